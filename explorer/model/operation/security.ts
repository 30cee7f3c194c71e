import { dereference } from '../document/dereference.ts';
import { formatCompactJson, getOwnMember, isJsonObject } from '../document/json.ts';

/** One way in, of those an operation accepts: everything in it is needed together. None means no token is needed. */
export type SecurityRequirement = readonly Credential[];

/** One thing a caller shows. `place` and `keyName` are where an API key goes. */
export type Credential = {
  name: string;
  kind: 'bearer' | 'basic' | 'key' | 'other';
  label: string;
  scopes: readonly string[];
  description: string;
  location?: string;
  parameterName?: string;
};

function textAt(value: unknown, key: string): string {
  const member = getOwnMember(value, key);
  return typeof member === 'string' ? member : '';
}

function readKey(document: unknown, name: string, scopes: unknown): Credential {
  const schemes = getOwnMember(getOwnMember(document, 'components'), 'securitySchemes');
  const { value: scheme } = dereference(document, getOwnMember(schemes, name));
  const said = {
    name,
    scopes: Array.isArray(scopes)
      ? scopes.map((scope) => (typeof scope === 'string' ? scope : formatCompactJson(scope)))
      : [],
    description: textAt(scheme, 'description'),
  };
  const type = textAt(scheme, 'type');
  const http = textAt(scheme, 'scheme').toLowerCase();
  if (type === 'http' && http === 'basic') return { ...said, kind: 'basic', label: 'user name and password' };
  if (type === 'http' && http === 'bearer') {
    const format = textAt(scheme, 'bearerFormat');
    return { ...said, kind: 'bearer', label: `bearer token${format === '' ? '' : ` (${format})`}` };
  }
  if (type === 'oauth2') return { ...said, kind: 'bearer', label: 'OAuth 2 token' };
  if (type === 'openIdConnect') return { ...said, kind: 'bearer', label: 'OpenID Connect token' };
  if (type === 'apiKey') {
    const place = textAt(scheme, 'in');
    const keyName = textAt(scheme, 'name');
    return {
      ...said,
      kind: 'key',
      label: `key in the ${place} ${keyName}`,
      location: place,
      parameterName: keyName,
    };
  }
  if (!isJsonObject(scheme))
    return { ...said, kind: 'other', label: `${name}, which this document does not describe` };
  return { ...said, kind: 'other', label: `${name}: ${formatCompactJson(scheme)}` };
}

/** What an operation asks of its caller: the ways in of its own, else those of the document. */
export function readSecurityRequirements(
  document: unknown,
  own: readonly unknown[] | undefined,
): SecurityRequirement[] {
  const general = getOwnMember(document, 'security');
  const accepted = own ?? (Array.isArray(general) ? general : []);
  return accepted.map((way) =>
    Object.entries(isJsonObject(way) ? way : {}).map(([name, scopes]) => readKey(document, name, scopes)),
  );
}
