import { formatCompactJson, getOwnMember, isJsonObject } from '../document/json.ts';
import type { ResolvedDocument } from '../document/resolved-document.ts';

/** One of the alternatives that an operation accepts: all its credentials together. None means public access. */
export type SecurityRequirement = readonly Credential[];

/** A credential of a request. `location` and `parameterName` are the place of an API key. */
export type Credential = {
  name: string;
  kind: 'bearer' | 'basic' | 'key' | 'other';
  label: string;
  scopes: readonly string[];
  description: string;
  location?: string;
  parameterName?: string;
};

function getText(value: unknown, key: string): string {
  const member = getOwnMember(value, key);
  return typeof member === 'string' ? member : '';
}

/** Reads the kind of a security scheme and the words for it. */
function readScheme(
  name: string,
  scheme: unknown,
): Pick<Credential, 'kind' | 'label' | 'location' | 'parameterName'> {
  const type = getText(scheme, 'type');
  const httpScheme = getText(scheme, 'scheme').toLowerCase();
  if (type === 'http' && httpScheme === 'basic') return { kind: 'basic', label: 'user name and password' };
  if (type === 'http' && httpScheme === 'bearer') {
    const format = getText(scheme, 'bearerFormat');
    return { kind: 'bearer', label: `bearer token${format === '' ? '' : ` (${format})`}` };
  }
  if (type === 'oauth2') return { kind: 'bearer', label: 'OAuth 2 token' };
  if (type === 'openIdConnect') return { kind: 'bearer', label: 'OpenID Connect token' };
  if (type === 'apiKey') {
    const location = getText(scheme, 'in');
    const parameterName = getText(scheme, 'name');
    return { kind: 'key', label: `key in the ${location} ${parameterName}`, location, parameterName };
  }
  if (!isJsonObject(scheme))
    return { kind: 'other', label: `${name}, which this document does not describe` };
  return { kind: 'other', label: `${name}: ${formatCompactJson(scheme)}` };
}

/** Reads the alternatives of access to an operation: its own, else those of the document. */
export function readSecurityRequirements(
  document: ResolvedDocument,
  own: readonly unknown[] | undefined,
): SecurityRequirement[] {
  const ofDocument = getOwnMember(document.root, 'security');
  const schemes = getOwnMember(getOwnMember(document.root, 'components'), 'securitySchemes');
  return (own ?? (Array.isArray(ofDocument) ? ofDocument : [])).map((requirement) =>
    Object.entries(isJsonObject(requirement) ? requirement : {}).map(([name, scopes]) => {
      const { value: scheme } = document.resolve(getOwnMember(schemes, name));
      return {
        ...readScheme(name, scheme),
        name,
        scopes: (Array.isArray(scopes) ? scopes : []).map((scope) =>
          typeof scope === 'string' ? scope : formatCompactJson(scope),
        ),
        description: getText(scheme, 'description'),
      };
    }),
  );
}
