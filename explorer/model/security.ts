import { isDict, memberOf, printShort } from './json.ts';
import { follow } from './reference.ts';

/** One way in, of those an operation accepts: everything in it is needed together. None means no token is needed. */
export type Access = readonly Key[];

/** One thing a caller shows. `place` and `keyName` are where an API key goes. */
export type Key = {
  name: string;
  kind: 'bearer' | 'basic' | 'key' | 'other';
  words: string;
  scopes: readonly string[];
  description: string;
  place?: string;
  keyName?: string;
};

function textAt(value: unknown, key: string): string {
  const member = memberOf(value, key);
  return typeof member === 'string' ? member : '';
}

function readKey(document: unknown, name: string, scopes: unknown): Key {
  const schemes = memberOf(memberOf(document, 'components'), 'securitySchemes');
  const { value: scheme } = follow(document, memberOf(schemes, name));
  const said = {
    name,
    scopes: Array.isArray(scopes)
      ? scopes.map((scope) => (typeof scope === 'string' ? scope : printShort(scope)))
      : [],
    description: textAt(scheme, 'description'),
  };
  const type = textAt(scheme, 'type');
  const http = textAt(scheme, 'scheme').toLowerCase();
  if (type === 'http' && http === 'basic') return { ...said, kind: 'basic', words: 'user name and password' };
  if (type === 'http' && http === 'bearer') {
    const format = textAt(scheme, 'bearerFormat');
    return { ...said, kind: 'bearer', words: `bearer token${format === '' ? '' : ` (${format})`}` };
  }
  if (type === 'oauth2') return { ...said, kind: 'bearer', words: 'OAuth 2 token' };
  if (type === 'openIdConnect') return { ...said, kind: 'bearer', words: 'OpenID Connect token' };
  if (type === 'apiKey') {
    const place = textAt(scheme, 'in');
    const keyName = textAt(scheme, 'name');
    return { ...said, kind: 'key', words: `key in the ${place} ${keyName}`, place, keyName };
  }
  if (!isDict(scheme))
    return { ...said, kind: 'other', words: `${name}, which this document does not describe` };
  return { ...said, kind: 'other', words: `${name}: ${printShort(scheme)}` };
}

/** What an operation asks of its caller: the ways in of its own, else those of the document. */
export function readSecurity(document: unknown, own: readonly unknown[] | undefined): Access[] {
  const general = memberOf(document, 'security');
  const accepted = own ?? (Array.isArray(general) ? general : []);
  return accepted.map((way) =>
    Object.entries(isDict(way) ? way : {}).map(([name, scopes]) => readKey(document, name, scopes)),
  );
}
