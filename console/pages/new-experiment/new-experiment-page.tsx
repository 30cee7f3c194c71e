import {
  EXPERIMENT_TYPES,
  EXPERIMENTS,
  type ExperimentType,
} from '@switchyard/contract/experiment-types/experiment-types.ts';
import { suggestId } from '@switchyard/contract/presentation/suggest-id.ts';
import { skipToken, useMutation, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { describeError } from '../../client/client.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/forms/field.tsx';
import form from '../../ui/forms/form.module.css';
import { RequestCode } from '../../ui/forms/request-code.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { useRight } from '../../ui/use-right.ts';
import { createDraft, type ExperimentDraft } from './draft.ts';
import styles from './new-experiment-page.module.css';
import { Planner } from './planner.tsx';
import { choicesQuery, createExperiment } from './queries.ts';
import { TypeFields } from './type-fields.tsx';
import { buildRequest, type ExperimentRequest, sourceQuery } from './types/type-forms.ts';

/** The guided form of a new experiment of any type. */
export function NewExperimentPage() {
  const { application } = useParams({ from: '/signed-in/apps/$application/new-experiment' });
  const { type = EXPERIMENT_TYPES[0], from } = useSearch({
    from: '/signed-in/apps/$application/new-experiment',
  });
  const { data: choices } = useSuspenseQuery(choicesQuery(application));
  const source = sourceQuery({ application, type, id: from ?? '' });
  // The route has loaded the values of an existing experiment.
  const { data: values } = useQuery(from === undefined ? { ...source, queryFn: skipToken } : source);
  const [draft, setDraft] = useState<ExperimentDraft>(() => ({
    ...createDraft({ ...choices, inputSets: choices.inputSets.map(({ id }) => id) }),
    ...values,
  }));
  usePageTitle('New experiment', application);
  const change = (values: Partial<ExperimentDraft>) => setDraft((current) => ({ ...current, ...values }));
  const request = tryBuild(type, draft);
  return (
    <>
      <PageHeader title="New experiment" description={EXPERIMENTS[type].purpose} />
      <TypeChoice application={application} chosen={type} />
      <ExperimentForm application={application} type={type} draft={draft} request={request}>
        <NameFields draft={draft} change={change} />
        <TypeFields {...{ type, draft, choices, change, application }} />
        <Planner {...{ type, draft, choices, application, request }} />
      </ExperimentForm>
    </>
  );
}

interface NameFieldsProps {
  draft: ExperimentDraft;
  change: (values: Partial<ExperimentDraft>) => void;
}

/** Name, id and description. */
function NameFields({ draft, change }: NameFieldsProps) {
  return (
    <section className={form.section} aria-label="Experiment">
      <div className={form.row}>
        <TextField
          label="Name"
          help="3 to 48 characters, such as the change that you test."
          value={draft.name}
          onChange={(name) => change({ name })}
        />
        <TextField
          label="Id"
          help={`Part of its address; the default is ${suggestId(draft.name) || 'made from the name'}.`}
          value={draft.id}
          onChange={(id) => change({ id })}
        />
      </div>
      <Field
        label="Description"
        help="The question and the reason to ask it: at least 30 characters, or none."
      >
        {(attributes) => (
          <textarea
            {...attributes}
            rows={2}
            value={draft.description}
            onChange={(event) => change({ description: event.target.value })}
          />
        )}
      </Field>
    </section>
  );
}

/** Returns the request, or the reason why the form has none. */
function tryBuild(type: ExperimentType, draft: ExperimentDraft): ExperimentRequest | string {
  try {
    return buildRequest(type, draft);
  } catch (error) {
    return describeError(error);
  }
}

function TypeChoice({ application, chosen }: { application: string; chosen: ExperimentType }) {
  return (
    <nav aria-label="Type of the experiment" className={styles.types}>
      {EXPERIMENT_TYPES.map((type) => (
        <Link
          key={type}
          to="/apps/$application/new-experiment"
          params={{ application }}
          search={{ type }}
          replace
          className={styles.type ?? ''}
          aria-current={type === chosen ? 'page' : undefined}
        >
          {EXPERIMENTS[type].label}
        </Link>
      ))}
    </nav>
  );
}

interface ExperimentFormProps {
  application: string;
  type: ExperimentType;
  draft: ExperimentDraft;
  request: ExperimentRequest | string;
  children: React.ReactNode;
}

/** The form around the fields, with the button that creates the experiment and the same request as a command. */
function ExperimentForm({ application, type, draft, request, children }: ExperimentFormProps) {
  const navigate = useNavigate();
  const mayCreate = useRight('experiment');
  const creation = useMutation({
    mutationFn: (built: ExperimentRequest) =>
      createExperiment(application, built, { isIdChosen: draft.id !== '' }),
    onSuccess: (id) =>
      navigate({ to: '/apps/$application/experiments/$type/$id', params: { application, type, id } }),
  });
  const isReady = draft.name.trim() !== '' && typeof request !== 'string' && !creation.isPending;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) creation.mutate(request);
  };
  return (
    <form className={form.form} onSubmit={submit}>
      {children}
      {typeof request === 'string' && <Notice kind="error">{request}</Notice>}
      {creation.isError && <Notice kind="error">{describeError(creation.error)}</Notice>}
      <div className={form.actions}>
        {mayCreate ? (
          <>
            <Button kind="primary" type="submit" isDisabled={!isReady}>
              {EXPERIMENTS[type].action}
            </Button>
            {draft.name.trim() === '' && <span className="soft">Enter a name first.</span>}
          </>
        ) : (
          <Notice kind="info">
            Your role reads experiments. Ask a member with the right to create them.
          </Notice>
        )}
      </div>
      {typeof request !== 'string' && (
        <RequestCode
          request={[request.operation, { params: { application_id: application }, body: request.body }]}
        />
      )}
    </form>
  );
}
