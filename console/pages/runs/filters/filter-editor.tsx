import { formatObjective } from '@switchyard/contract/presentation/format-quantity.ts';
import type { Run } from '@switchyard/contract/runs/run-schemas.ts';
import { RUN_STATUSES_V2 } from '@switchyard/contract/states.ts';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { instancesQuery, versionsQuery } from '../../../client/applications.ts';
import { listItems } from '../../../client/list-items.ts';
import { operationQuery } from '../../../client/queries.ts';
import { Button } from '../../../ui/button.tsx';
import { ChoiceEditor } from '../../../ui/filters/choice-editor.tsx';
import styles from '../../../ui/filters/filters.module.css';
import { type FilterName, WINDOW_LABELS, WINDOWS } from './filter-names.ts';
import {
  type FilterChange,
  formatCondition,
  joinValues,
  parseCondition,
  RUN_TYPE_CHOICES,
  type RunFilters,
  splitConditions,
  splitValues,
} from './runs-search.ts';

/** Where suggestions come from: the application, and the runs that the table shows. */
export interface FilterContext {
  application: string;
  runs: readonly Run[];
}

interface FilterEditorProps {
  name: FilterName;
  of: string | undefined;
  filters: RunFilters;
  context: FilterContext;
  onChange: (change: FilterChange) => void;
  onClose: () => void;
}

/** The fields of one filter, with suggestions. */
export function FilterEditor({ name, of, filters, context, onChange, onClose }: FilterEditorProps) {
  if (name === 'created') return <WindowEditor filters={filters} onChange={onChange} onClose={onClose} />;
  const value = filters[name];
  const change = (text: string | undefined) => onChange({ [name]: text || undefined });
  const parts = { value, onChange: change, context };
  switch (name) {
    case 'status':
      return <Choices {...parts} choices={RUN_STATUSES_V2} />;
    case 'type':
      return <Choices {...parts} choices={RUN_TYPE_CHOICES} />;
    case 'instance':
      return <InstanceEditor {...parts} />;
    case 'version':
      return <VersionEditor {...parts} />;
    case 'user':
      return <Choices {...parts} mayType choices={distinct(context.runs.map((run) => run.user_email))} />;
    case 'tag':
      return <TagEditor {...parts} />;
    case 'name':
      return <TextEditor label="The whole name" value={value} onChange={change} onClose={onClose} />;
    default:
      return <ConditionEditor {...parts} kind={name} of={of} onClose={onClose} />;
  }
}

interface EditorProps {
  value: string | undefined;
  onChange: (value: string | undefined) => void;
  context: FilterContext;
}

const distinct = (values: readonly string[]): string[] => [...new Set(values)].filter(Boolean).toSorted();

interface ChoicesProps extends Omit<EditorProps, 'context'> {
  choices: readonly string[];
  mayType?: boolean;
}

function Choices({ value, onChange, ...rest }: ChoicesProps) {
  return (
    <ChoiceEditor {...rest} value={splitValues(value)} onChange={(chosen) => onChange(joinValues(chosen))} />
  );
}

function InstanceEditor({ context, ...rest }: EditorProps) {
  const { data = [] } = useQuery(instancesQuery(context.application));
  return <Choices {...rest} mayType choices={[...listItems(data).map(({ id }) => id), 'latest']} />;
}

function VersionEditor({ context, ...rest }: EditorProps) {
  const { data = [] } = useQuery(versionsQuery(context.application));
  return <Choices {...rest} mayType choices={listItems(data).map(({ id }) => id)} />;
}

function TagEditor({ context, ...rest }: EditorProps) {
  const params = { application_id: context.application };
  const { data } = useQuery(operationQuery('listTags', { params }));
  return <Choices {...rest} mayType choices={data?.tags ?? []} />;
}

interface TextEditorProps {
  label: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
  onClose: () => void;
}

function TextEditor({ label, value = '', onChange, onClose }: TextEditorProps) {
  const [text, setText] = useState(value);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onChange(text.trim());
        onClose();
      }}
    >
      <label>
        {label}
        {/* biome-ignore lint/a11y/noAutofocus: the person has just opened this field */}
        <input autoFocus value={text} onChange={(event) => setText(event.target.value)} />
      </label>
      <Button type="submit">Apply</Button>
    </form>
  );
}

interface ConditionEditorProps extends EditorProps {
  kind: 'indicator' | 'option';
  of: string | undefined;
  onClose: () => void;
}

/** A range of an indicator, or a value of an option. A second condition on the same name replaces the first. */
function ConditionEditor({ kind, of, value, onChange, context, onClose }: ConditionEditorProps) {
  const id = useId();
  const conditions = splitConditions(value).map(parseCondition);
  const first = conditions.find(({ name }) => of === undefined || name === of) ?? {
    name: of ?? '',
    value: '',
  };
  const [name, setName] = useState(first.name);
  const [low = '', high] = first.value.split('..');
  const [from, setFrom] = useState(low);
  const [to, setTo] = useState(high ?? (kind === 'indicator' ? low : ''));
  const names = listNames(context.runs, kind);
  const range = findRange(context.runs, kind, name);
  const apply = (event: FormEvent) => {
    event.preventDefault();
    const [a, b] = [from.trim(), to.trim()];
    const others = conditions.filter((one) => one.name !== name && one.name !== first.name);
    const text = a === b || (kind === 'option' && b === '') ? a : `${a}..${b}`;
    const added = name && text && text !== '..' ? [{ name, value: text }] : [];
    onChange([...others, ...added].map((one) => formatCondition(one.name, one.value)).join(','));
    onClose();
  };
  return (
    <form onSubmit={apply}>
      <label>
        {kind === 'indicator' ? 'Indicator' : 'Option'}
        {/* biome-ignore lint/a11y/noAutofocus: the person has just opened this field */}
        <input autoFocus={!name} list={id} value={name} onChange={(event) => setName(event.target.value)} />
      </label>
      <datalist id={id}>
        {names.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      <div className={styles.range}>
        <label>
          {kind === 'indicator' ? 'From' : 'Value, or from'}
          {/* biome-ignore lint/a11y/noAutofocus: the person has just opened this field */}
          <input autoFocus={Boolean(name)} value={from} onChange={(event) => setFrom(event.target.value)} />
        </label>
        <label>
          To
          <input value={to} onChange={(event) => setTo(event.target.value)} />
        </label>
      </div>
      {range && (
        <p className="meta">
          {formatObjective(range.from)} to {formatObjective(range.to)} in the runs shown
        </p>
      )}
      <Button type="submit">Apply</Button>
    </form>
  );
}

function listNames(runs: readonly Run[], kind: 'indicator' | 'option'): string[] {
  if (kind === 'option') return distinct(runs.flatMap((run) => Object.keys(run.options ?? {})));
  return distinct(runs.flatMap(({ statistics }) => statistics.indicators.map(({ name }) => name)));
}

/** Returns the least and the greatest number that the runs have; undefined without two. */
function findRange(runs: readonly Run[], kind: 'indicator' | 'option', name: string) {
  const values = runs
    .map((run) =>
      kind === 'option'
        ? Number(run.options?.[name] || Number.NaN)
        : run.statistics.indicators.find((one) => one.name === name)?.value,
    )
    .filter((one): one is number => typeof one === 'number' && Number.isFinite(one));
  return values.length < 2 ? undefined : { from: Math.min(...values), to: Math.max(...values) };
}

/** A day, a time before now, or two instants of the reader's time zone. */
function WindowEditor({
  filters,
  onChange,
  onClose,
}: Pick<FilterEditorProps, 'filters' | 'onChange' | 'onClose'>) {
  const [from, setFrom] = useState(toLocal(filters.from));
  const [to, setTo] = useState(toLocal(filters.to));
  const choose = (change: FilterChange) => {
    onChange({ within: undefined, from: undefined, to: undefined, ...change });
    onClose();
  };
  const fromLocal = (text: string) => (text === '' ? undefined : new Date(text).toISOString());
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        choose({ from: fromLocal(from), to: fromLocal(to) });
      }}
    >
      <div className={styles.windows}>
        {WINDOWS.map((window) => (
          <Button
            key={window}
            kind="quiet"
            aria-pressed={filters.within === window}
            onPress={() => choose({ within: window })}
          >
            {WINDOW_LABELS[window]}
          </Button>
        ))}
      </div>
      <label>
        From
        <input type="datetime-local" value={from} onChange={(event) => setFrom(event.target.value)} />
      </label>
      <label>
        To
        <input type="datetime-local" min={from} value={to} onChange={(event) => setTo(event.target.value)} />
      </label>
      <Button type="submit">Apply</Button>
    </form>
  );
}

/** Returns an instant as a field of the browser has it: local, without a zone. */
function toLocal(at: string | undefined): string {
  if (at === undefined) return '';
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
