import { useMutation, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { client, describeError } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { formatCurl } from '../../ui/forms/curl.ts';
import { TextField } from '../../ui/forms/text-field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { buildEnsembleRequest, createGroup, createRule, type EnsembleDraft } from './draft.ts';
import { GroupFields } from './group-fields.tsx';
import styles from './new-ensemble-page.module.css';
import { instancesQuery } from './queries.ts';
import { RuleFields } from './rule-fields.tsx';

const route = getRouteApi('/signed-in/apps/$application/new-ensemble');

/** The form of a new ensemble: groups of runs, and the rules that select the best run. */
export function NewEnsemblePage() {
  const { application } = route.useParams();
  const { data } = useSuspenseQuery(instancesQuery(application));
  const instances = [...(Array.isArray(data) ? data : data.items).map(({ id }) => id), 'latest'];
  const [draft, setDraft] = useState<EnsembleDraft>({
    id: '',
    name: '',
    description: '',
    groups: [createGroup(instances[0] ?? 'latest', 0)],
    rules: [createRule()],
  });
  const change = (values: Partial<EnsembleDraft>) => setDraft({ ...draft, ...values });
  const creation = useCreation(application, draft);
  usePageTitle('New ensemble', application);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!creation.isPending) creation.mutate();
  };
  return (
    <>
      <PageHeader title="New ensemble" description="Its groups and rules cannot be changed later." />
      <form className={styles.form} onSubmit={submit}>
        <section className={styles.section} aria-label="Ensemble">
          <div className={styles.row}>
            <TextField label="Name" value={draft.name} onChange={(name) => change({ name })} autoFocus />
            <TextField
              label="Id"
              help="Part of its address; it never changes."
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
        <div className={styles.actions}>
          <Button
            kind="primary"
            type="submit"
            isDisabled={draft.id.trim() === '' || draft.name.trim() === '' || creation.isPending}
          >
            Create ensemble
          </Button>
          <CurlOfDraft application={application} draft={draft} />
        </div>
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

/** The command of the form; nothing while an option cannot be read. */
function CurlOfDraft({ application, draft }: { application: string; draft: EnsembleDraft }) {
  let command: string;
  try {
    const body = buildEnsembleRequest(draft);
    command = formatCurl('createEnsemble', { params: { application_id: application }, body });
  } catch {
    return null;
  }
  return (
    <span className={styles.curl}>
      <span aria-hidden="true">Copy as curl</span> <CopyButton text={command} label="Copy as curl" />
    </span>
  );
}
