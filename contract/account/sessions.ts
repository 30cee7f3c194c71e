/**
 * A session signs a person in to the console in one browser. It acts with the role of a key and ends with that key. The
 * browser holds a cookie that scripts cannot read, and never a token.
 */
import Type, { type Static } from 'typebox';
import { CONSOLE_HEADER } from '../console-header.ts';
import {
  SESSION_DAYS,
  SESSION_IDLE_DAYS,
  SIGN_IN_LINK_MINUTES,
  SIGN_ON_CALLBACK_CHARS_MAX,
} from '../limits.ts';
import { defineOperation, respond } from '../operation.ts';
import { textSchema, timestampSchema } from '../schemas/field-schemas.ts';
import { idSchema, type SessionId } from '../schemas/ids.ts';
import { PageQuery, pageOrArray } from '../schemas/paging.ts';
import { Key } from './account.ts';

const Session = Type.Object(
  {
    id: idSchema<SessionId>('Id of the session.'),
    current: Type.Boolean({ description: 'true for the session that made this request.' }),
    key: Key,
    user_agent: Type.String({ description: 'Browser that signed in, as it names itself.' }),
    address: Type.String({ description: 'IP address that signed in.' }),
    created_at: timestampSchema('Time of the sign-in'),
    last_used_at: timestampSchema('Time of the last request, to the minute'),
    expires_at: timestampSchema('Time at which the session ends without another request'),
  },
  { $id: 'Session', description: 'A session of the console, without its cookie.' },
);
export type Session = Static<typeof Session>;

const SessionCreate = Type.Object(
  {
    ticket: Type.Optional(
      textSchema('The ticket of a sign-in link. Absent for a sign-in with a bearer token.', { max: 128 }),
    ),
    callback: Type.Optional(
      textSchema(
        'The query of the address to which the identity provider sent the browser back, such as `code=…&state=…`.',
        { min: 1, max: SIGN_ON_CALLBACK_CHARS_MAX },
      ),
    ),
  },
  { $id: 'SessionCreate', additionalProperties: false, description: 'The credential of the sign-in.' },
);

const SignInLink = Type.Object(
  {
    url: Type.String({ description: 'Address that opens the console signed in. It works once.' }),
    expires_at: timestampSchema('Time at which the link stops working'),
  },
  { $id: 'SignInLink', description: 'A link that signs in to the console.' },
);

const sessionExample = {
  id: 'session-01jd3v7k9mq2z5x8',
  current: true,
  key: {
    id: 'key-4k2m9x',
    name: 'laptop',
    role: 'developer' as const,
    user_email: 'ada@example.com',
    created_at: '2026-11-20T08:00:00.000Z',
    last_used_at: '2026-11-23T08:00:00.000Z',
    created_by: null,
  },
  user_agent: 'Mozilla/5.0 (X11; Linux x86_64) Chrome/142.0.0.0',
  address: '127.0.0.1',
  created_at: '2026-11-23T08:00:00.000Z',
  last_used_at: '2026-11-23T08:00:00.000Z',
  expires_at: '2026-11-30T08:00:00.000Z',
};

export const createSignInLink = defineOperation({
  id: 'createSignInLink',
  method: 'POST',
  path: '/v1/account/sign-in-links',
  tag: 'sessions',
  summary: 'Create a sign-in link',
  description: `Returns a link that opens the console, signed in with the key of this request. It works once, within ${SIGN_IN_LINK_MINUTES} minutes. No later response shows it.`,
  right: 'keys',
  returnsToken: true,
  responses: respond(201, 'The link.', SignInLink, {
    url: 'http://127.0.0.1:8080/console?ticket=Vb0k4…',
    expires_at: '2026-11-23T08:10:00.000Z',
  }),
});

export const createSession = defineOperation({
  id: 'createSession',
  method: 'POST',
  path: '/v1/account/sessions',
  tag: 'sessions',
  summary: 'Sign in to the console',
  description: `Creates a session from the ticket of a sign-in link, from the callback of a single sign-on, or from the bearer token of the request, and sets its cookie. The request needs the header \`${CONSOLE_HEADER}\` and the \`Origin\` of the server. A session ends after ${SESSION_IDLE_DAYS} days without a request, and ${SESSION_DAYS} days after the sign-in.`,
  right: 'public',
  optionalToken: true,
  countsFailures: true,
  returnsToken: true,
  body: { schema: SessionCreate, example: { ticket: 'Vb0k4…' } },
  responses: {
    201: {
      description: 'The session.',
      schema: Session,
      example: sessionExample,
      headers: { 'set-cookie': 'The cookie of the session.' },
    },
  },
  errors: [401, 403],
});

export const listSessions = defineOperation({
  id: 'listSessions',
  method: 'GET',
  path: '/v1/account/sessions',
  tag: 'sessions',
  summary: 'List sessions',
  description:
    'Lists the sessions that have not ended. Root and admin see all sessions of the account; other roles see the sessions of their own keys.',
  right: 'keys',
  query: Type.Object(PageQuery),
  responses: respond(200, 'The sessions, newest first.', pageOrArray(Session), [sessionExample]),
});

export const endSession = defineOperation({
  id: 'endSession',
  method: 'DELETE',
  path: '/v1/account/sessions/{session_id}',
  tag: 'sessions',
  summary: 'End a session',
  description:
    'Ends a session at once. `current` is the id of the session that makes the request: its browser signs out.',
  right: 'keys',
  params: Type.Object({ session_id: idSchema<SessionId>('Id of the session, or `current`.') }),
  responses: { 204: { description: 'The session has ended.' } },
});
