import { useMutation, useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { type FormEvent, useMemo, useState } from 'react';
import { describeError } from '../../client/client.ts';
import { Button } from '../../ui/button.tsx';
import { CodeSamples } from '../../ui/forms/code-samples.tsx';
import { Field } from '../../ui/forms/field.tsx';
import { RoleNotice } from '../../ui/forms/role-notice.tsx';
import { findSecondsError } from '../../ui/forms/seconds/parse-seconds.ts';
import { Notice } from '../../ui/notice.tsx';
import { OptionFields } from '../../ui/options/option-fields.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { UploadError } from '../../ui/upload/upload-error.tsx';
import { UploadProgress } from '../../ui/upload/upload-progress.tsx';
import { type FormUpload, useUpload } from '../../ui/upload/use-upload.ts';
import { useRight } from '../../ui/use-right.ts';
import { formatPublishedCommand, formatRunCommand } from './cli-sample.ts';
import { formatCurl, formatPython } from './code-samples.ts';
import { DetailFields } from './detail-fields.tsx';
import {
  createDraft,
  findInputError,
  findInputFormat,
  findOptionErrors,
  findPreset,
  findRefusedOption,
  listDefinitions,
  listSetOptions,
  type RunDraft,
} from './draft.ts';
import { InputSection } from './input-section.tsx';
import styles from './new-run-page.module.css';
import { type NewRunData, newRunQuery } from './queries.ts';
import { type PlannedRequest, planRequest, sendRequest } from './request.ts';

/** The form of a new run. With `from`, it opens with the values of that run. */
export function NewRunPage() {
  const { application } = useParams({ from: '/signed-in/apps/$application/new-run' });
  const search = useSearch({ from: '/signed-in/apps/$application/new-run' });
  usePageTitle('New run', application);
  const { data } = useSuspenseQuery(newRunQuery(application, search));
  // Values that the person has written survive another choice of the instance.
  return <NewRunForm key={`${application} ${search.from}`} data={data} />;
}

function NewRunForm({ data }: { data: NewRunData }) {
  const [initial] = useState(() => createDraft(data));
  const [draft, setDraft] = useState(initial);
  const [wasSubmitted, setSubmitted] = useState(false);
  const { original } = data;
  const upload = useUpload();
  const run = useStart(data, upload);
  const change = (values: Partial<RunDraft>) => {
    // The run that is being started has the values that it was started with.
    if (!run.isPending) run.reset();
    setDraft((current) => ({ ...current, ...values }));
  };
  const rules = useMemo(() => findOptionErrors(draft, data), [draft, data]);
  const inputError = findInputError(draft, findInputFormat(data));
  const errors = [inputError, findSecondsError(draft.maxDuration)].filter((error) => error !== null);
  const start = (baseline?: string) => {
    setSubmitted(true);
    if (rules.size === 0 && errors.length === 0) run.mutate({ request: planRequest(draft, data), baseline });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    start();
  };
  const canRun = useRight('run');
  const source = { request: planRequest(draft, data), server: location.origin };
  return (
    <form className={styles.form} onSubmit={submit} noValidate>
      <PageHeader
        title="New run"
        description={
          original && (
            <>
              With the values of <bdi>{original.name || original.id}</bdi>
            </>
          )
        }
      />
      <RoleNotice right="run" does="create runs" />
      {data.executable === null && <MissingExecutable data={data} />}
      <div className={styles.columns} inert={!canRun}>
        <div>
          <InstanceField data={data} />
          <OptionFields
            items={listDefinitions(data)}
            isStrict={data.executable?.requirements.options?.strict ?? false}
            values={draft.options}
            original={original?.metadata.options.request_options}
            errors={listVisibleErrors({ draft, rules, wasSubmitted, refusal: run.error })}
            findPreset={(item) => findPreset(item, data)}
            onChange={(options) => change({ options })}
          />
        </div>
        <div>
          <InputSection
            data={data}
            draft={draft}
            error={wasSubmitted || draft.text !== '' ? inputError : null}
            onChange={change}
          />
          <DetailFields data={data} draft={draft} initial={initial} onChange={change} />
        </div>
      </div>
      <SubmitArea
        errors={wasSubmitted ? [...rules.values(), ...errors] : []}
        refusal={run.error}
        upload={upload}
        isPending={run.isPending}
        onCompare={original ? () => start(original.id) : undefined}
      />
      <CodeSamples
        command={formatRunCommand(source.request)}
        curl={formatCurl(source)}
        python={formatPython(source)}
        publishedCommand={formatPublishedCommand(source.request)}
      />
    </form>
  );
}

function MissingExecutable({ data: { application, instance } }: { data: NewRunData }) {
  return (
    <div className={styles.notice}>
      <Notice kind="warning">
        The instance {instance.id} has no executable. Push one first:{' '}
        <code>npm run push -- path/to/app {application.id}</code>
      </Notice>
    </div>
  );
}

interface StartedRun {
  request: PlannedRequest;
  /** Id of the run that the new one is compared with; absent to open the new run. */
  baseline: string | undefined;
}

/** Sends the request, and opens the new run or its comparison. */
function useStart({ application: { id: application } }: NewRunData, upload: FormUpload) {
  const navigate = useNavigate();
  return useMutation({
    mutationFn: ({ request }: StartedRun) => sendRequest(request, upload.begin()),
    onSuccess: (run, { baseline }) =>
      baseline === undefined
        ? navigate({ to: '/apps/$application/runs/$run', params: { application, run } })
        : navigate({
            to: '/apps/$application/compare',
            params: { application },
            search: { runs: `${baseline},${run}` },
          }),
  });
}

interface SubmitAreaProps {
  errors: readonly string[];
  refusal: unknown;
  upload: FormUpload;
  isPending: boolean;
  /** Starts the run and compares it with the one that it repeats; absent for a run that repeats none. */
  onCompare: (() => void) | undefined;
}

/** The buttons that start the run, below everything that prevents it. */
function SubmitArea({ errors, refusal, upload, isPending, onCompare }: SubmitAreaProps) {
  const canRun = useRight('run');
  return (
    <div className={styles.submit}>
      {errors.length > 0 && <Notice kind="error">{errors.join(' ')}</Notice>}
      {refusal !== null && <UploadError error={refusal} />}
      <UploadProgress upload={upload} />
      {canRun && (
        <div className={styles.buttons}>
          <Button kind="primary" type="submit" isDisabled={isPending}>
            {isPending ? 'Starting …' : 'Run'}
          </Button>
          {onCompare && (
            <Button onPress={onCompare} isDisabled={isPending}>
              Run and compare
            </Button>
          )}
        </div>
      )}
    </div>
  );
}

/** The instance to run. It is a search parameter, because the options and their presets depend on it. */
function InstanceField({ data }: { data: NewRunData }) {
  const navigate = useNavigate({ from: '/apps/$application/new-run' });
  const { instance, instances, original } = data;
  const ids = [...new Set(['latest', ...instances.map(({ id }) => id), instance.id])];
  const isChanged = original && original.application_instance_id !== instance.id;
  return (
    <div className={styles.section}>
      <Field
        label="Instance"
        help={instance.version_id === '' ? 'The newest executable.' : `Version ${instance.version_id}.`}
        changed={isChanged ? `changed from ${original.application_instance_id || 'none'}` : null}
      >
        {(attributes) => (
          <select
            {...attributes}
            value={instance.id}
            onChange={(event) =>
              navigate({ search: (search) => ({ ...search, instance: event.target.value }), replace: true })
            }
          >
            {ids.map((id) => (
              <option key={id} value={id}>
                {id}
              </option>
            ))}
          </select>
        )}
      </Field>
    </div>
  );
}

interface VisibleErrors {
  draft: RunDraft;
  rules: ReadonlyMap<string, string>;
  wasSubmitted: boolean;
  refusal: unknown;
}

/** Returns the errors to show at options: of values at once, of missing ones after the first attempt, and the server's. */
function listVisibleErrors({
  draft,
  rules,
  wasSubmitted,
  refusal,
}: VisibleErrors): ReadonlyMap<string, string> {
  const visible = new Map([...rules].filter(([name]) => wasSubmitted || draft.options[name]));
  const reason = refusal ? describeError(refusal) : '';
  const refused = findRefusedOption(reason, Object.keys(listSetOptions(draft)));
  if (refused !== null) visible.set(refused, reason);
  return visible;
}
