import { suggestId } from '@switchyard/contract/presentation/suggest-id.ts';
import { useMutation, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { instancesQuery } from '../../client/applications.ts';
import { client, describeError } from '../../client/client.ts';
import { listItems } from '../../client/list-items.ts';
import { queryClient } from '../../client/queries.ts';
import { Button } from '../../ui/button.tsx';
import form from '../../ui/forms/form.module.css';
import { RequestCode } from '../../ui/forms/request-code.tsx';
import { RoleNotice } from '../../ui/forms/role-notice.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { useRight } from '../../ui/use-right.ts';
import { buildEnsembleRequest, createGroup, createRule, type EnsembleDraft } from './draft.ts';
import { GroupFields } from './group-fields.tsx';
import { RuleFields } from './rule-fields.tsx';

const route = getRouteApi('/signed-in/apps/$application/new-ensemble');

/** What the form needs before it can be sent, as its button says it. */
const NEXT = [
  {
    label: 'Name the ensemble',
    target: 'next-name',
    isMissing: ({ name }: EnsembleDraft) => name.trim() === '',
  },
  {
    label: 'Choose an instance',
    target: 'next-instance',
    isMissing: ({ groups }: EnsembleDraft) => groups.some(({ instance }) => instance === ''),
  },
];

/** The form of a new ensemble: groups of runs, and the rules that select the best run. */
export function NewEnsemblePage() {
  const { application } = route.useParams();
  const { data } = useSuspenseQuery(instancesQuery(application));
  const instances = [...listItems(data).map(({ id }) => id), 'latest'];
  const [draft, setDraft] = useState<EnsembleDraft>({
    id: '',
    name: '',
    description: '',
    groups: [createGroup(instances.length === 1 ? 'latest' : '', 0)],
    rules: [createRule()],
  });
  const change = (values: Partial<EnsembleDraft>) => setDraft({ ...draft, ...values });
  const creation = useCreation(application, draft);
  const canCreate = useRight('experiment');
  usePageTitle('New ensemble', application);
  const next = NEXT.find(({ isMissing }) => isMissing(draft));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (next) document.getElementById(next.target)?.querySelector<HTMLElement>('input, select')?.focus();
    else if (!creation.isPending) creation.mutate();
  };
  return (
    <>
      <PageHeader title="New ensemble" description="Its groups and rules cannot be changed later." />
      <RoleNotice right="experiment" does="create ensembles" />
      <form className={form.form} onSubmit={submit} inert={!canCreate}>
        <section className={form.section} aria-label="Ensemble" id="next-name">
          <div className={form.row}>
            <TextField label="Name" value={draft.name} onChange={(name) => change({ name })} autoFocus />
            <TextField
              label="Id"
              help={`Part of its address; the default is ${suggestId(draft.name) || 'made from the name'}.`}
              value={draft.id}
              onChange={(id) => change({ id })}
            />
            <TextField
              label="Description"
              value={draft.description}
              onChange={(description) => change({ description })}
            />
          </div>
        </section>
        <GroupFields groups={draft.groups} instances={instances} onChange={(groups) => change({ groups })} />
        <RuleFields rules={draft.rules} onChange={(rules) => change({ rules })} />
        {creation.isError && <Notice kind="error">{describeError(creation.error)}</Notice>}
        {canCreate && (
          <div className={form.actions}>
            <Button kind="primary" type="submit">
              {next?.label ?? 'Create ensemble'}
            </Button>
          </div>
        )}
        <CodeOfDraft application={application} draft={draft} />
      </form>
    </>
  );
}

function useCreation(application: string, draft: EnsembleDraft) {
  const navigate = route.useNavigate();
  return useMutation({
    mutationFn: async () => {
      const body = buildEnsembleRequest(draft);
      return client.call('createEnsemble', { params: { application_id: application }, body });
    },
    onSuccess: async ({ body }) => {
      await queryClient.invalidateQueries({ queryKey: ['listEnsembles'] });
      await navigate({
        to: '/apps/$application/ensembles/$ensemble',
        params: { application, ensemble: body.id },
      });
    },
  });
}

/** The request of the form as code; nothing while an option cannot be read. */
function CodeOfDraft({ application, draft }: { application: string; draft: EnsembleDraft }) {
  let body: ReturnType<typeof buildEnsembleRequest>;
  try {
    body = buildEnsembleRequest(draft);
  } catch {
    return null;
  }
  return <RequestCode request={['createEnsemble', { params: { application_id: application }, body }]} />;
}
