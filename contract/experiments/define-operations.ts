/** Defines the operations of a type of experiment, as far as those of all types are alike. */
import Type, { type TObject, type TSchema } from 'typebox';
import type { ExperimentDescriptor } from '../experiment-types/descriptor.ts';
import { defineOperation, type OperationResponse, type Tag } from '../operation.ts';
import { ApplicationParams } from '../schemas/application-params.ts';
import { PageQuery, runsPage } from '../schemas/paging.ts';
import { experimentUpdateFields } from './experiment-fields.ts';
import { ExperimentRun } from './experiment-runs.ts';

interface BodyResponse<Schema extends TSchema> extends OperationResponse {
  schema: Schema;
}

type TaggedDescriptor<Resource extends string> = ExperimentDescriptor & { resource: Resource; tag: Tag };

type Example<Schema extends TSchema> = Omit<BodyResponse<Schema>, 'description'>;

/** Returns functions that define one operation each. `params` are those of the paths of one experiment. */
export function defineExperimentOperations<const Resource extends string, Params extends TObject>(
  descriptor: TaggedDescriptor<Resource>,
  params: Params,
) {
  return {
    ...defineReads(descriptor, params),
    ...defineChanges(descriptor, params),
    ...defineCreation(descriptor),
    ...defineEnds(descriptor, params),
  };
}

const buildRoot = (kind: string) => `/v1/applications/{application_id}/experiments/${kind}`;
const buildPath = (kind: string) => `${buildRoot(kind)}/{${kind}_id}`;
const addArticle = (noun: string) => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
/** Within the operations of an experiment, its kind goes without saying. */
const shorten = (noun: string) => (noun.endsWith('experiment') ? 'experiment' : noun);

/** Defines the operations that read. */
function defineReads<const Resource extends string, Params extends TObject>(
  { kind, resource, noun, tag, isLive }: TaggedDescriptor<Resource>,
  params: Params,
) {
  const path = buildPath(kind);
  const read = { method: 'GET', path, tag, right: 'read', params, errors: [404] } as const;
  return {
    list: <Query extends TObject, Schema extends TSchema>({
      description,
      query,
      response,
    }: {
      description: string;
      query: Query;
      response: Partial<OperationResponse> & Example<Schema>;
    }) =>
      defineOperation({
        ...read,
        id: `list${resource}s` as const,
        path: buildRoot(kind),
        summary: `List ${noun}s`,
        description,
        params: ApplicationParams,
        query,
        responses: { 200: { description: `The ${shorten(noun)}s, newest first.`, ...response } },
      }),
    get: <Schema extends TSchema>(description: string, response: Example<Schema>) =>
      defineOperation({
        ...read,
        id: `get${resource}` as const,
        summary: `Get ${addArticle(noun)}`,
        description,
        responses: { 200: { description: `The ${shorten(noun)}.`, ...response } },
      }),
    getMetadata: <Schema extends TSchema>(description: string, response: Example<Schema>) =>
      defineOperation({
        ...read,
        id: `get${resource}Metadata` as const,
        path: `${path}/metadata`,
        summary: `Get the status of ${addArticle(noun)}`,
        description: `${description} Poll this operation.`,
        responses: {
          200: {
            description: isLive ? 'Status and progress of the test.' : `The ${shorten(noun)}.`,
            ...response,
          },
        },
      }),
    listRuns: (description: string) =>
      defineOperation({
        ...read,
        id: `list${resource}Runs` as const,
        path: `${path}/runs`,
        summary: `List the runs of ${addArticle(noun)}`,
        description,
        query: Type.Object(PageQuery),
        responses: {
          200: {
            description: isLive ? 'The runs, newest first.' : 'The runs.',
            schema: runsPage(ExperimentRun),
            example: { runs: [] },
          },
        },
      }),
  };
}

/** Defines the operation that creates an experiment. */
function defineCreation<const Resource extends string>({
  kind,
  resource,
  noun,
  tag,
  isLive,
  ownsRuns,
}: TaggedDescriptor<Resource>) {
  return {
    create: <
      const Body extends { schema: TSchema; example: unknown; bytesMax?: number },
      const Response extends BodyResponse<TSchema>,
    >(parts: {
      description: string;
      body: Body;
      response: Response;
    }) =>
      defineOperation({
        tag,
        right: 'experiment',
        errors: [404],
        id: `create${resource}` as const,
        method: 'POST',
        path: buildRoot(kind),
        summary: `${ownsRuns && !isLive ? 'Create and start' : 'Create'} ${addArticle(noun)}`,
        description: parts.description,
        params: ApplicationParams,
        body: parts.body,
        responses: { 201: parts.response },
      }),
  };
}

/** Defines the update and the deletion. */
function defineChanges<const Resource extends string, Params extends TObject>(
  { kind, resource, noun, tag }: TaggedDescriptor<Resource>,
  params: Params,
) {
  const path = buildPath(kind);
  const write = { path, tag, right: 'experiment', params, errors: [404] } as const;
  return {
    update: <Schema extends TSchema>(
      description: string,
      { name, ...response }: Example<Schema> & { name: string },
    ) =>
      defineOperation({
        ...write,
        id: `update${resource}` as const,
        method: 'PATCH',
        summary: `Update ${addArticle(noun)}`,
        description,
        body: {
          schema: Type.Object(experimentUpdateFields(noun), {
            $id: `${resource}Update`,
            description: 'The fields to change. Others may have their present values.',
          }),
          example: { name },
        },
        responses: { 200: { description: `The updated ${shorten(noun)}.`, ...response } },
      }),
    delete: (description: string) =>
      defineOperation({
        ...write,
        id: `delete${resource}` as const,
        method: 'DELETE',
        summary: `Delete ${addArticle(noun)}`,
        description,
        responses: { 204: { description: `The ${shorten(noun)} is deleted.` } },
      }),
  };
}

/** Defines the start and the stop of the types that have them. */
function defineEnds<const Resource extends string, Params extends TObject>(
  { kind, resource, noun, tag }: TaggedDescriptor<Resource>,
  params: Params,
) {
  const path = buildPath(kind);
  const write = { path, tag, right: 'experiment', params, errors: [404] } as const;
  return {
    start: (description: string) =>
      defineOperation({
        ...write,
        id: `start${resource}` as const,
        method: 'PUT',
        path: `${path}/start`,
        summary: `Start ${addArticle(noun)}`,
        description,
        responses: {
          204: { description: 'The test is started.' },
          304: { description: 'The test was already started. Nothing was changed.' },
        },
      }),
    stop: <Body extends TSchema>(
      description: string,
      { response, ...body }: { schema: Body; example: unknown; response: string },
    ) =>
      defineOperation({
        ...write,
        id: `stop${resource}` as const,
        method: 'PUT',
        path: `${path}/stop`,
        summary: `Stop ${addArticle(noun)}`,
        description,
        body: { ...body, required: false },
        responses: { 204: { description: response } },
      }),
  };
}
