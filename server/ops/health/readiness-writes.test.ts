/** R4: `/readyz` writes to the database, because a database that refuses writes still serves reads. */
import { sql } from 'kysely';
import { expect, inject, test } from 'vitest';
import { startTestServer } from '../../testing/servers/test-server.ts';

const REFUSAL = 'cannot execute UPDATE in a read-only transaction';
const ON_WRITES = 'create trigger refuse before update on installation_identity';
const REFUSE_WRITES = inject('postgres')
  ? [
      `create function refuse() returns trigger language plpgsql as $$ begin raise '${REFUSAL}'; end $$`,
      `${ON_WRITES} execute function refuse()`,
    ]
  : [`${ON_WRITES} begin select raise(abort, '${REFUSAL}'); end`];

test('R4: a server whose database serves reads and refuses writes is not ready', async () => {
  await using server = await startTestServer();
  const readiness = async () => {
    const { status, body } = await server.request('GET', '/readyz');
    return [status, (body as { reason: string }).reason];
  };
  expect(await readiness()).toEqual([200, '']);
  for (const statement of REFUSE_WRITES) await sql.raw(statement).execute(server.runningServer.database.read);
  await expect.poll(readiness).toEqual([503, `The database cannot be written to: ${REFUSAL}`]);
});
