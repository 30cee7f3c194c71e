/** The session of this browser: sign-in, sign-out, and the account and role behind it. */
import { client } from './client.ts';
import { operationQuery, queryClient } from './queries.ts';

/** The query of the account and key of the session; it fails with a 401 when nobody is signed in. */
export const accountQuery = operationQuery('getAccount');

/** Signs in with the ticket of a sign-in link. Throws the refusal of the server. */
export async function signInWithTicket(ticket: string): Promise<void> {
  await client.call('createSession', { body: { ticket } });
  queryClient.clear();
}

/** Signs in with an API token, which only this request contains. Throws the refusal of the server. */
export async function signInWithToken(token: string): Promise<void> {
  await client.call('createSession', { body: {}, headers: { authorization: `Bearer ${token}` } });
  queryClient.clear();
}

/** Signs in with an API token after a session ended. The page keeps what it shows until it is read again. */
export async function resumeWithToken(token: string): Promise<void> {
  await client.call('createSession', { body: {}, headers: { authorization: `Bearer ${token}` } });
  await queryClient.invalidateQueries();
}

/** Ends the session of this browser. */
export async function signOut(): Promise<void> {
  await client.call('endSession', { params: { session_id: 'current' } });
  queryClient.clear();
}
