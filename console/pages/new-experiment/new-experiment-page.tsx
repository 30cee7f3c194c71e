import {
  EXPERIMENT_TYPES,
  EXPERIMENTS,
  type ExperimentType,
  hasFact,
  hasField,
} from '@switchyard/contract/experiment-types/experiment-types.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { suggestId } from '@switchyard/contract/presentation/suggest-id.ts';
import { skipToken, useMutation, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { describeError } from '../../client/client.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/forms/field.tsx';
import form from '../../ui/forms/form.module.css';
import { RequestCode } from '../../ui/forms/request-code.tsx';
import { RoleNotice } from '../../ui/forms/role-notice.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { useRight } from '../../ui/use-right.ts';
import { createDraft, type ExperimentDraft } from './draft.ts';
import { listMissing, type MissingPart, nameTarget, type StepName } from './list-missing.ts';
import { listWork } from './list-work.ts';
import styles from './new-experiment-page.module.css';
import { Planner } from './planner.tsx';
import { type Choices, choicesQuery, createExperiment } from './queries.ts';
import { Step } from './step.tsx';
import { MoreFields, TypeFields } from './type-fields.tsx';
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
  const missing = listMissing(type, draft);
  return (
    <>
      <PageHeader title="New experiment" description="Nothing starts before you press the button." />
      <RoleNotice right="experiment" does="create experiments" />
      <ExperimentForm {...{ application, type, draft, request, missing, choices }}>
        <Step title="What do you want to know?">
          <TypeChoice application={application} chosen={type} />
        </Step>
        <TypeFields {...{ type, draft, choices, change, application, missing }} />
        <Step name="name" title="Name" missing={missing}>
          <NameFields draft={draft} change={change} />
        </Step>
        <MoreFields {...{ type, draft, choices, change }} />
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
    <div className={form.section} id={nameTarget('name')}>
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
    </div>
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

/** What each type of experiment answers. */
const QUESTIONS: Record<ExperimentType, string> = {
  batch: 'Is a change better?',
  scenario: 'Which of several is best?',
  acceptance: 'May it go into production?',
  shadow: 'Does it hold on copies of real runs?',
  switchback: 'Does it hold in real operation?',
  bisect: 'Which version made it worse?',
};

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
          <b>{QUESTIONS[type]}</b>
          <span>
            {EXPERIMENTS[type].label}. {EXPERIMENTS[type].purpose}
          </span>
        </Link>
      ))}
    </nav>
  );
}

interface ExperimentFormProps {
  application: string;
  type: ExperimentType;
  draft: ExperimentDraft;
  choices: Choices;
  request: ExperimentRequest | string;
  missing: readonly MissingPart[];
  children: React.ReactNode;
}

/** The form around the steps. Beside them stand the plan, the button for the next thing to do, and the same as a command. */
function ExperimentForm({ children, ...props }: ExperimentFormProps) {
  const { application, type, draft, choices, request, missing } = props;
  const navigate = useNavigate();
  const mayCreate = useRight('experiment');
  const creation = useMutation({
    mutationFn: (built: ExperimentRequest) =>
      createExperiment(application, built, { isIdChosen: draft.id !== '' }),
    onSuccess: (id) =>
      navigate({ to: '/apps/$application/experiments/$type/$id', params: { application, type, id } }),
  });
  const [next] = missing;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (next) focusStep(next.step);
    else if (typeof request !== 'string' && !creation.isPending) creation.mutate(request);
  };
  return (
    <form className={styles.form} onSubmit={submit}>
      <div className={styles.steps}>{children}</div>
      <div className={styles.beside}>
        <Planner {...props} />
        {typeof request === 'string' && <Notice kind="error">{request}</Notice>}
        {creation.isError && <Notice kind="error">{describeError(creation.error)}</Notice>}
        {mayCreate && (
          <Button kind="primary" type="submit">
            {next?.label ?? nameStart(type, draft, choices)}
          </Button>
        )}
        {next && mayCreate && (
          <p className={styles.then}>Then “{nameStart(type, draft, choices)}” stands here.</p>
        )}
        {typeof request !== 'string' && (
          <RequestCode
            request={[request.operation, { params: { application_id: application }, body: request.body }]}
          />
        )}
      </div>
    </form>
  );
}

/** Returns the label of the button that starts: with the number of runs where it is known. */
function nameStart(type: ExperimentType, draft: ExperimentDraft, choices: Choices): string {
  const { action } = EXPERIMENTS[type];
  const runs = (listWork(type, draft, choices) ?? []).reduce((sum, part) => sum + part.runs, 0);
  const isKnown = runs > 0 && !hasFact(type, 'isLive') && !hasField(type, 'versions');
  if (!isKnown || listMissing(type, draft).some(({ step }) => step !== 'name')) return action;
  return `Start ${formatNumber(runs)} ${runs === 1 ? 'run' : 'runs'}`;
}

function focusStep(step: StepName): void {
  const target = document.getElementById(nameTarget(step));
  target?.querySelector<HTMLElement>('input, select, textarea, button, a')?.focus();
}
