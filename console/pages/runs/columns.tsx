/** The columns of the runs table: facts of each run, and any indicator or option that the listed runs have. */
import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { capitalise } from '@switchyard/contract/presentation/format-count.ts';
import { formatDuration, formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { measureTimes, type PhaseFacts } from '@switchyard/contract/runs/presentation/list-phases.ts';
import type { Run } from '@switchyard/contract/runs/run-schemas.ts';
import type { ReactNode } from 'react';
import type { Meaning } from '../../client/indicator-meaning.ts';
import { formatJudged } from '../../client/judged-values.ts';
import { isActiveStatus } from '../../client/run-refetch.ts';
import type { DataColumn } from '../../ui/data-table/data-table.tsx';
import { RelativeTime, useNow } from '../../ui/relative-time.tsx';
import { RunLink } from '../../ui/run-link.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import type { FilterName } from './filters/filter-names.ts';
import styles from './runs-page.module.css';

const FACTS = {
  instance: 'Instance',
  version: 'Version',
  user: 'User',
  created: 'Created',
  duration: 'Run time',
  waited: 'Waited',
  description: 'Description',
  type: 'Type',
  priority: 'Priority',
  input: 'Input',
  experiment: 'Experiment',
} as const;
type Fact = keyof typeof FACTS;

const INDICATOR = 'indicator:';
const OPTION = 'option:';

/** More columns than this are no table that anybody reads, and an address may name any number. */
const COLUMNS_MAX = 30;

/** A column that a reader may choose, with its kind and the name of its fact, indicator or option. */
export interface RunColumn {
  id: string;
  label: string;
  kind: 'fact' | 'indicator' | 'option';
}

/** Returns the columns of a table whose reader chose none: the result comes first. */
export function listDefaultColumns({ objective }: Meaning, hasExperiments: boolean): string[] {
  return [
    INDICATOR + objective.name,
    'duration',
    'waited',
    'instance',
    ...(hasExperiments ? ['experiment'] : []),
    'created',
    'user',
  ];
}

function isFact(id: string): id is Fact {
  return Object.hasOwn(FACTS, id);
}

/** Returns the column of an id, or undefined for an id that names none. */
function findColumn(id: string, { objective }: Meaning): RunColumn | undefined {
  if (id.startsWith(INDICATOR)) {
    const name = id.slice(INDICATOR.length);
    const label = name === objective.name ? objective.label : escapeInvisible(name);
    return { id, label, kind: 'indicator' };
  }
  if (id.startsWith(OPTION)) {
    return { id, label: escapeInvisible(id.slice(OPTION.length)), kind: 'option' };
  }
  return isFact(id) ? { id, label: FACTS[id], kind: 'fact' } : undefined;
}

const SORT_FIELDS: Partial<Record<Fact, string>> = {
  instance: 'instance_id',
  version: 'version_id',
  user: 'user_email',
  created: 'created_at',
  type: 'run_type',
};

/** Returns the field by which the server sorts the column; undefined for a column without one. */
export function findSortField({ id, kind }: RunColumn): string | undefined {
  if (kind !== 'fact') return id.replace(':', '.');
  return isFact(id) ? SORT_FIELDS[id] : undefined;
}

const FILTER_NAMES: Partial<Record<Fact, FilterName>> = {
  instance: 'instance',
  version: 'version',
  user: 'user',
  created: 'created',
  type: 'type',
};

/** Returns the filter of the column; undefined for a column without one. */
export function findFilter({ id, kind }: RunColumn): { name: FilterName; of?: string } | undefined {
  if (kind !== 'fact') return { name: kind, of: id.slice(id.indexOf(':') + 1) };
  const name = isFact(id) ? FILTER_NAMES[id] : undefined;
  return name && { name };
}

/** Returns the columns of the ids in their order, each once. */
export function findColumns(ids: readonly string[], meaning: Meaning): RunColumn[] {
  return [...new Set(ids)]
    .slice(0, COLUMNS_MAX)
    .map((id) => findColumn(id, meaning))
    .filter((column) => column !== undefined);
}

/** Returns the columns that a reader can choose: all facts, and the indicators and options of the runs. */
export function listColumns(runs: readonly Run[], chosen: readonly string[], meaning: Meaning): RunColumn[] {
  const indicators = runs.flatMap(({ statistics }) =>
    statistics.indicators.map(({ name }) => INDICATOR + name),
  );
  const options = runs.flatMap((run) => Object.keys(run.options ?? {}).map((name) => OPTION + name));
  const ids = [...Object.keys(FACTS), ...indicators, ...options, ...chosen];
  return [...new Set(ids)].map((id) => findColumn(id, meaning)).filter((column) => column !== undefined);
}

/** The first column: the status as a sign, and the name. */
export function buildNameColumn(application: string): DataColumn<Run> {
  return {
    title: 'Run',
    hover: ({ id, name }) => name || id,
    cell: ({ id, name, status_v2 }) => (
      <span className={styles.name}>
        <StatusBadge status={status_v2} isBare />
        <RunLink application={application} run={id} tabIndex={-1}>
          <bdi>{name || id}</bdi>
        </RunLink>
      </span>
    ),
  };
}

/** Returns how the table draws a column. */
export function buildColumn({ id, label, kind }: RunColumn, meaning: Meaning): DataColumn<Run> {
  if (kind === 'indicator') return buildIndicatorColumn(id, label, meaning);
  if (kind === 'option')
    return {
      ...{ id, title: label },
      hover: (run) => readOption(run, id),
      cell: (run) => <bdi>{escapeInvisible(readOption(run, id))}</bdi>,
    };
  const common = { id, title: label, onPhone: 'plain' } as const;
  switch (id) {
    case 'duration':
      return { ...common, kind: 'number', cell: (run) => drawTime(run, 'ran') };
    case 'waited':
      return { ...common, kind: 'number', onPhone: 'hidden', cell: (run) => drawTime(run, 'waited') };
    case 'created':
      return { ...common, onPhone: 'end', cell: ({ created_at }) => <RelativeTime at={created_at} /> };
    case 'priority':
      return { ...common, kind: 'number', cell: ({ queuing_priority }) => queuing_priority };
    case 'instance':
      return {
        ...common,
        hover: ({ application_instance_id }) => application_instance_id,
        cell: (run) => (
          <>
            {run.application_instance_id} <span className="soft">{run.application_version_id}</span>
          </>
        ),
      };
    default: {
      const read = FACT_TEXTS[id] ?? (() => '');
      return {
        ...common,
        onPhone: 'hidden',
        hover: read,
        cell: (run) => <bdi>{escapeInvisible(read(run))}</bdi>,
      };
    }
  }
}

const FACT_TEXTS: Record<string, (run: Run) => string> = {
  version: (run) => run.application_version_id,
  user: (run) => run.user_email,
  description: (run) => run.description,
  type: (run) => run.run_type.type,
  input: (run) => run.input_id ?? '',
  experiment: (run) => run.experiment_id ?? '',
};

const readOption = (run: Run, id: string): string => run.options?.[id.slice(OPTION.length)] ?? '';

function buildIndicatorColumn(id: string, label: string, { objective }: Meaning): DataColumn<Run> {
  const name = id.slice(INDICATOR.length);
  const isObjective = name === objective.name;
  const read = (run: Run) => run.statistics.indicators.find((one) => one.name === name)?.value;
  return {
    id,
    title: label,
    kind: 'number',
    ...(isObjective && { onPhone: 'beside' }),
    hover: (run) => {
      const value = read(run);
      return typeof value === 'number' ? formatNumber(value) : undefined;
    },
    cell: (run) => {
      const value = read(run);
      if (typeof value === 'number') {
        const text = formatJudged(value, isObjective ? objective.unit : '');
        return <span className={isObjective ? styles.objective : undefined}>{text}</span>;
      }
      if (value !== undefined) return <bdi>{escapeInvisible(String(value))}</bdi>;
      return isObjective && run.status_v2 !== 'succeeded' ? <StatusWord run={run} /> : '–';
    },
  };
}

/** Why a run has no objective. */
function StatusWord({ run }: { run: Run }) {
  return <span className={run.status_v2 === 'failed' ? 'bad' : 'soft'}>{capitalise(run.status_v2)}</span>;
}

const TICK_MS = 1_000;

/** The run time, or the time in the queue. */
type RunTime = 'ran' | 'waited';

/** Returns a time of a run; of an active one until now. */
function drawTime(run: Run, time: RunTime): ReactNode {
  const facts = { ...run, execution_duration: run.execution_duration ?? 0 };
  const isGrowing = isActiveStatus(run.status_v2) && (time === 'waited' || run.status_v2 === 'running');
  return isGrowing ? <ActiveTime facts={facts} time={time} /> : formatTime(facts, time);
}

function ActiveTime({ facts, time }: { facts: PhaseFacts; time: RunTime }) {
  return formatTime(facts, time, useNow(TICK_MS));
}

function formatTime(facts: PhaseFacts, time: RunTime, now = 0): string {
  const ms = measureTimes(facts, now)[time];
  return ms === null ? '–' : formatDuration(ms);
}
