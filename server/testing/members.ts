/** People of an account, invited and let in as anyone does it. */
import type { Admission, Invite as InviteSchema, Member } from '@switchyard/contract/members.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import type { Static } from 'typebox';
import { otherAccount } from './accounts.ts';
import { expectStatus, freshId } from './resources.ts';
import type { Answer, TestServer } from './server.ts';

export type Invite = Static<typeof InviteSchema>;

/** A member with a key of theirs. */
export interface Person {
  id: string;
  key: string;
  token: string;
}

export const MEMBERS = '/v1/account/members';
export const freshEmail = (): string => `${freshId('person')}@example.com`;

/** What tests ask of members, of whichever server is the one by then. */
export function peopleOf(server: () => TestServer) {
  const ask = (method: string, path: string, token: string, body?: unknown): Promise<Answer> =>
    server().ask(method, path, { token, body });
  const accept = (invite: string, body: object = {}): Promise<Answer> =>
    server().ask('POST', '/v1/account/invites/accept', { token: null, body: { invite, ...body } });
  const whoAmI = (token: string): Promise<Answer> => ask('GET', '/v1/account', token);

  async function invite(token: string, role: Role, email = freshEmail()): Promise<Invite> {
    const answer = await ask('POST', MEMBERS, token, { email, role });
    expectStatus(answer, 201);
    return answer.body as Invite;
  }

  /** A member who has come in. */
  async function joined(
    token: string,
    role: Role,
    email = freshEmail(),
  ): Promise<Person & { email: string }> {
    const invited = await invite(token, role, email);
    const answer = await accept(invited.invite);
    expectStatus(answer, 201);
    const admission = answer.body as Admission;
    return { id: invited.id, key: admission.key.id, token: admission.token, email };
  }

  return {
    ask,
    accept,
    whoAmI,
    invite,
    joined,
    put: (token: string, id: string, body: unknown) => ask('PUT', `${MEMBERS}/${id}`, token, body),
    remove: (token: string, id: string) => ask('DELETE', `${MEMBERS}/${id}`, token),
    works: async (token: string): Promise<boolean> => (await whoAmI(token)).status === 200,

    /** A key of the account for the address. */
    async keyFor(token: string, role: Role, user_email: string): Promise<{ id: string; token: string }> {
      const answer = await ask('POST', '/v1/account/keys', token, { name: 'Any name', role, user_email });
      expectStatus(answer, 201);
      return answer.body as { id: string; token: string };
    },

    /** An account of its own with a root and an admin in it. */
    async account() {
      const root = await otherAccount(server());
      const members = (await ask('GET', MEMBERS, root.token)).body as Member[];
      return {
        root: { ...root, member: members[0]?.id ?? '' },
        admin: await joined(root.token, 'admin'),
      };
    },
  };
}
