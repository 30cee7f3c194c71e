import type { Application } from '@switchyard/contract/applications/applications.ts';
import type { ApplicationObjective } from '@switchyard/contract/applications/indicators.ts';
import { useQuery } from '@tanstack/react-query';
import { applicationQuery } from '../../client/applications.ts';
import { client } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { useEdit } from '../../ui/forms/conflicts/use-edit.ts';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { SuggestionField } from '../../ui/forms/suggestion-field.tsx';
import { SelectField } from '../../ui/forms/text-field.tsx';
import { listNumericIndicators } from './list-lanes.ts';
import { recentRunsQuery } from './queries.ts';

type JudgedApplication = Pick<Application, 'id' | 'objective' | 'updated_at'>;

const DIRECTIONS = [
  { value: 'minimize', label: 'Less is better' },
  { value: 'maximize', label: 'More is better' },
];

/** Returns what the direction means, such as `less is better`. */
export function describeDirection(direction: ApplicationObjective['direction']): string {
  return direction === 'minimize' ? 'less is better' : 'more is better';
}

/** Chooses the indicator by which runs of the application are judged, and its direction. */
export function ObjectiveDialog({
  application,
  onClose,
}: {
  application: JudgedApplication;
  onClose: () => void;
}) {
  const params = { application_id: application.id };
  const { data: recent } = useQuery(recentRunsQuery(application.id));
  const { draft, change, seen, load } = useEdit<JudgedApplication, { name: string; direction: string }>({
    resource: application,
    fetch: async () => (await client.call('getApplication', { params })).body,
    createDraft: ({ objective }) => ({
      name: objective?.name ?? '',
      direction: objective?.direction ?? 'minimize',
    }),
    labels: { name: 'Indicator', direction: 'Direction' },
  });
  const direction = draft.direction === 'maximize' ? 'maximize' : 'minimize';
  const body = {
    objective: draft.name === '' ? null : ({ name: draft.name, direction } as const),
    expected_updated_at: seen.updated_at,
  };
  return (
    <FormDialog
      title="Objective"
      action="Save"
      requests={[['updateApplication', { params, body: { objective: body.objective } }]]}
      onClose={onClose}
      onSubmit={async () => {
        const response = await client.call('updateApplication', { params, body });
        queryClient.setQueryData(applicationQuery(application.id).queryKey, response.body);
        onClose();
      }}
      onLoad={load}
    >
      <SuggestionField
        label="Indicator"
        help="Empty for none. Experiments without objectives of their own compare by it, and the next push of an app.yaml with an objective replaces it."
        value={draft.name}
        suggestions={listNumericIndicators(recent?.runs ?? []).map((value) => ({ value }))}
        onChange={(name) => change({ name })}
      />
      <SelectField
        label="Direction"
        value={draft.direction}
        options={DIRECTIONS}
        onChange={(value) => change({ direction: value })}
      />
    </FormDialog>
  );
}
