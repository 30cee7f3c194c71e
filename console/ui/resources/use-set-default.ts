import { useMutation, useSuspenseQuery } from '@tanstack/react-query';
import { applicationQuery } from '../../client/applications.ts';
import { client } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';

/** Makes an instance the default of the application, unless somebody has changed the application since it was read. */
export function useSetDefault(application: string) {
  const query = applicationQuery(application);
  const { data } = useSuspenseQuery(query);
  const refresh = () =>
    Promise.all([
      queryClient.invalidateQueries({ queryKey: ['getApplication'] }),
      queryClient.invalidateQueries({ queryKey: ['listApplications'] }),
    ]);
  const sending = useMutation({
    mutationFn: (default_instance: string) =>
      client.call('updateApplication', {
        params: { application_id: application },
        body: { default_instance, expected_updated_at: data.updated_at },
      }),
    onSuccess: refresh,
  });
  /** Shows the present state, and returns what somebody else has changed. */
  const load = async () => {
    const { default_instance: before } = data;
    await refresh();
    const after = queryClient.getQueryData(query.queryKey)?.default_instance ?? before;
    return before === after ? [] : [{ label: 'Default instance', before, after, isRetained: false }];
  };
  return { sending, load };
}
