/** Backups of the server. The command `npm run backup` makes them, and stores a record of each in the database. */
import Type, { type Static } from 'typebox';
import { BACKUPS_MAX } from '../limits.ts';
import { defineOperation, respond } from '../operation.ts';
import { nullable, timestampSchema } from '../schemas/field-schemas.ts';

const Backup = Type.Object(
  {
    id: Type.String({ description: 'Id of the record.' }),
    made_at: timestampSchema('Instant of which the backup has everything'),
    finished_at: timestampSchema('End of the backup'),
    folder: Type.String({
      description:
        'Folder of the backup on the machine that made it; empty for a caller who does not manage the server.',
    }),
    rows: Type.Integer({ description: 'Rows of the database.' }),
    blobs: Type.Integer({ description: 'Number of blobs.' }),
    bytes: Type.Integer({ description: 'Bytes of its files and blobs. Backups in a folder share blobs.' }),
    copied_bytes: Type.Integer({ description: 'Bytes of the blobs that no earlier backup had.' }),
    has_key: Type.Boolean({ description: 'true if it holds the master key.' }),
    verified_at: nullable(
      timestampSchema('When `restore --check` last read the backup while the server ran; null for never'),
    ),
    problem: Type.String({ description: 'The problem that the last check found; empty without one.' }),
  },
  { $id: 'Backup', description: 'A backup of the server.' },
);
export type Backup = Static<typeof Backup>;

const Backups = Type.Object(
  { items: Type.Array(Backup, { description: `The backups, newest first, at most ${BACKUPS_MAX}.` }) },
  { $id: 'Backups', description: 'The backups of the server.' },
);

export const getBackups = defineOperation({
  id: 'getBackups',
  method: 'GET',
  path: '/v1/account/backups',
  tag: 'backups',
  summary: 'Get the backups',
  description:
    'Returns the backups that the command `npm run backup` has made. A backup that `--keep` removed is not listed any more.',
  right: 'account',
  responses: respond(200, 'The backups.', Backups, {
    items: [
      {
        id: 'backup-01jd3v7k9mq2z5x8',
        made_at: '2026-11-20T02:00:00.000Z',
        finished_at: '2026-11-20T02:01:12.000Z',
        folder: '/backups/switchyard/2026-11-20T02-00-00.000Z',
        rows: 812_004,
        blobs: 1204,
        bytes: 734_003_200,
        copied_bytes: 5_242_880,
        has_key: true,
        verified_at: '2026-11-20T03:00:00.000Z',
        problem: '',
      },
    ],
  }),
});
