/**
 * The operations that a run token can call. They are those of an operator on runs, inputs and uploads of the applications
 * that the instance names, and those on the graph of the run itself. Everything that would stay after the end of the run in
 * another form than a run is refused: share links, keys, views, experiments. So is everything outside an application.
 */
import type { Operation } from '@switchyard/contract/operation.ts';
import type { OperationId } from '@switchyard/contract/operations.ts';
import type { KeyId } from '@switchyard/contract/schemas/ids.ts';
import { quoteValue } from '../errors/problem.ts';
import type { Caller, CallingRun } from './handler.ts';

const APPLICATION_PATH = '/v1/applications/{application_id}/';
const FLOW_OPERATIONS: ReadonlySet<string> = new Set<OperationId>(['updateRunFlow', 'getRunFlow']);
/** Operations with the tags of runs and inputs that change something. A replay would be no child of the run. */
const CHANGES: ReadonlySet<string> = new Set<OperationId>([
  'createRun',
  'updateRun',
  'cancelRun',
  'deleteRun',
  'createRunUpload',
  'setRunTags',
  'createInput',
  'updateInput',
  'deleteInput',
  'createInputSet',
  'updateInputSet',
  'deleteInputSet',
]);

/** Operations behind signed URLs, which the app gets with its run token. They are the only ones that it calls without it. */
const SIGNED_OPERATIONS: ReadonlySet<string> = new Set<OperationId>([
  'putUpload',
  'getUpload',
  'appendUpload',
  'getDownload',
]);

/**
 * Returns the sentence that refuses an operation without a token to the app of a run, or null when the app may call it. An
 * app without network could otherwise create an account here, and send its data there.
 */
export function findPublicRefusal({ id }: Pick<Operation, 'id'>): string | null {
  if (SIGNED_OPERATIONS.has(id)) return null;
  return `The app of a run cannot call ${id}: it uses the API with its run token alone, and this operation needs none. Call it from outside the run.`;
}

/** Returns the sentence that refuses the operation to the app of the run, or null when the app may call it. */
export function findRunScopeRefusal(
  { id, method, path, right }: Operation,
  params: Record<string, string>,
  run: CallingRun,
): string | null {
  const application = params.application_id;
  if (FLOW_OPERATIONS.has(id)) {
    const isOwn = application === run.applicationId && params.run_id === run.id;
    return isOwn
      ? null
      : `The run token of the run ${run.id} can store and read the graph of this run alone; the request names the run ${quoteValue(params.run_id)}.`;
  }
  const isRead = method === 'GET' && right === 'read';
  const isInApplication = path.startsWith(APPLICATION_PATH);
  if (!isInApplication || !(isRead || CHANGES.has(id)))
    return `The run token of the run ${run.id} cannot call ${id}: it can read applications, and create, read, cancel and delete their runs and inputs. Call this operation with a key.`;
  if (run.applications.some((one) => one === application)) return null;
  return `The run token of the run ${run.id} cannot reach the application ${quoteValue(application)}: it reaches ${run.applications.join(', ')}. Name the application in configuration.api_access.applications of the instance.`;
}

/** Returns the key of the caller; for a run that calls, the key that started its workflow, or null when it is unknown. */
export function findStartingKey({ key, run }: Pick<Caller, 'key' | 'run'>): KeyId | null {
  return run ? run.startedBy : key;
}
