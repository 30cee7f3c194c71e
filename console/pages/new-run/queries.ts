import { isLatest } from '@switchyard/contract/applications/reserved-instances.ts';
import { queryOptions } from '@tanstack/react-query';
import { listItems } from '../../client/list-items.ts';
import { operationQuery, queryClient } from '../../client/queries.ts';

/** The parts of the address that decide which form is shown. */
export interface NewRunSearch {
  /** The run whose values fill the form. */
  from?: string;
  /** The instance to run; the default is that of `from`, else that of the application. */
  instance?: string;
  /** The managed input that the form opens with. */
  input?: string;
}

/** Everything that the form of a new run shows. */
export type NewRunData = Awaited<ReturnType<typeof loadForm>>;

/** The query of the form: application, instances, inputs, and the original of a repeated run. */
export function newRunQuery(application: string, search: NewRunSearch) {
  return queryOptions({
    queryKey: ['new-run', application, search],
    queryFn: () => loadForm(application, search),
    // The form must not change while it is filled in.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
}

async function loadForm(application: string, { from, instance, input }: NewRunSearch) {
  const params = { application_id: application };
  const query = { pagereturn: true };
  const [app, instances, inputs, original] = await Promise.all([
    queryClient.fetchQuery(operationQuery('getApplication', { params })),
    queryClient.fetchQuery(operationQuery('listInstances', { params, query })),
    queryClient.fetchQuery(operationQuery('listInputs', { params, query })),
    from === undefined
      ? null
      : queryClient.fetchQuery(operationQuery('getRunMetadata', { params: { ...params, run_id: from } })),
  ]);
  const listed = listItems(instances);
  const instanceId =
    instance ?? chooseInstance(original?.application_instance_id, app.default_instance, listed);
  const chosen = await queryClient.fetchQuery(
    operationQuery('getInstance', { params: { ...params, instance_id: instanceId } }),
  );
  const executable = await loadExecutable(application, chosen, app.active_executable);
  return {
    application: app,
    instance: chosen,
    instances: listed,
    inputs: listItems(inputs),
    original,
    executable,
    inputId: input,
  };
}

/** Returns the instance of the original run unless it was deleted, else the default of the application. */
function chooseInstance(
  original: string | undefined,
  preset: string,
  listed: readonly { id: string }[],
): string {
  if (original && (isLatest(original) || listed.some(({ id }) => id === original))) return original;
  return preset || 'latest';
}

/** Returns the executable that the instance runs; null before the first push, and for a deleted version. */
async function loadExecutable<E>(
  application: string,
  instance: { version_id: string; version_deleted?: boolean },
  active: E | null,
) {
  if (instance.version_id === '') return active;
  if (instance.version_deleted) return null;
  const params = { application_id: application, version_id: instance.version_id };
  const version = await queryClient.fetchQuery(operationQuery('getVersion', { params }));
  return version.executable;
}
