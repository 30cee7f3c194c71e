/** Tags of runs. A tagged run is never deleted by a retention policy. */
import Type from 'typebox';
import { LISTED_TAGS_MAX, RUN_TAG_CHARS_MAX, RUN_TAGS_MAX } from '../limits.ts';
import { defineOperation, respond } from '../operation.ts';
import { ApplicationParams } from '../schemas/application-params.ts';
import { nameTextSchema } from '../schemas/field-schemas.ts';
import { RunParams } from './runs.ts';

const RunTags = Type.Object(
  {
    tags: Type.Array(nameTextSchema('A tag.', { min: 1, max: RUN_TAG_CHARS_MAX }), {
      maxItems: RUN_TAGS_MAX,
      description: `Tags of the run, at most ${RUN_TAGS_MAX}. The server removes duplicates and sorts them.`,
    }),
  },
  { $id: 'RunTags', additionalProperties: false, description: 'The tags of a run.' },
);

const example = { tags: ['board meeting', 'reference'] };

export const getRunTags = defineOperation({
  id: 'getRunTags',
  method: 'GET',
  path: '/v1/applications/{application_id}/runs/{run_id}/tags',
  tag: 'retention',
  summary: 'Get the tags of a run',
  description: 'Returns the tags of a run.',
  right: 'read',
  params: RunParams,
  responses: respond(200, 'The tags.', RunTags, example),
});

export const setRunTags = defineOperation({
  id: 'setRunTags',
  method: 'PUT',
  path: '/v1/applications/{application_id}/runs/{run_id}/tags',
  tag: 'retention',
  summary: 'Set the tags of a run',
  description: 'Replaces the tags of a run. A retention policy never deletes a run that has a tag.',
  right: 'run',
  params: RunParams,
  body: { schema: RunTags, example },
  responses: respond(200, 'The tags.', RunTags, example),
});

export const listTags = defineOperation({
  id: 'listTags',
  method: 'GET',
  path: '/v1/applications/{application_id}/tags',
  tag: 'retention',
  summary: 'List the tags of all runs',
  description: `Lists the tags that runs of the application have, sorted, at most ${LISTED_TAGS_MAX}.`,
  right: 'read',
  params: ApplicationParams,
  responses: respond(
    200,
    'The tags.',
    Type.Object({ tags: Type.Array(Type.String({ description: 'A tag.' })) }),
    example,
  ),
});
