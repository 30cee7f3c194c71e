import { type ExperimentType, hasField } from '@switchyard/contract/experiment-types/experiment-types.ts';
import { estimateCoreHours, estimateTime } from '@switchyard/contract/presentation/estimate-time.ts';
import { formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';
import { skipToken, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { operationQuery } from '../../../client/queries.ts';
import form from '../../../ui/forms/form.module.css';
import { TextField } from '../../../ui/forms/text-field.tsx';
import { useRight } from '../../../ui/use-right.ts';
import { formatCost } from '../../usage/format-measures.ts';
import type { ExperimentDraft } from '../draft.ts';
import type { InstanceRuns } from '../types/count-runs.ts';
import { timingsQuery } from './timings-query.ts';

interface TimeEstimateProps {
  application: string;
  type: ExperimentType;
  draft: ExperimentDraft;
  /** The runs that slots execute; undefined where nothing says how many. */
  work: readonly InstanceRuns[] | undefined;
  /** How often these runs follow one another: the rounds of a search. The default is 1. */
  rounds?: number;
  /** Slots of the workers. */
  available: number;
}

const MINUTE_MS = 60_000;

/** How long the experiment takes and what it costs: by past runs of its instances, or by the units of its plan. */
export function TimeEstimate({
  application,
  type,
  draft,
  work = [],
  rounds = 1,
  available,
}: TimeEstimateProps) {
  const [slots, setSlots] = useState(String(available));
  if (hasField(type, 'units')) {
    const planned = Number(draft.units) * Number(draft.unitMinutes) * MINUTE_MS;
    return Number.isFinite(planned) && <p>The plan takes {formatDuration(planned)} from its start.</p>;
  }
  if (!(work.reduce((sum, { runs }) => sum + runs, 0) > 0)) return null;
  return (
    <div className={form.row}>
      <TextField
        label="Slots"
        help="Runs that the workers execute at the same time."
        value={slots}
        onChange={setSlots}
      />
      <Estimate {...{ application, work, rounds }} extent={findExtent(type)} slots={Number(slots)} />
    </div>
  );
}

/** The part of the experiment that is estimated. */
type Extent = 'all' | 'copies' | 'rounds';

/** Returns the extent: of copies and searches not all is estimated. */
function findExtent(type: ExperimentType): Extent {
  if (hasField(type, 'copies')) return 'copies';
  return hasField(type, 'searchRuns') ? 'rounds' : 'all';
}

const PREFIXES: Record<Extent, string> = {
  all: 'About',
  copies: 'The copies take about',
  rounds: 'The fewest rounds take about',
};

interface EstimateProps {
  application: string;
  extent: Extent;
  work: readonly InstanceRuns[];
  rounds: number;
  slots: number;
}

function Estimate({ application, extent, work, rounds, slots }: EstimateProps) {
  const instances = [...new Set(work.map(({ instance }) => instance))].toSorted();
  const { data } = useQuery(timingsQuery(application, instances));
  if (!data) return <p className="soft">Reading past runs …</p>;
  const missing = instances.filter((instance) => !data.has(instance));
  if (missing.length > 0)
    return (
      <p className="soft">
        The time is unknown, because no run of {missing.join(' and of ')} has succeeded yet.
      </p>
    );
  if (!Number.isInteger(slots) || slots < 1) return null;
  const timed = work.flatMap(({ instance, runs }) => {
    const timing = data.get(instance);
    return timing ? [{ ...timing, runs }] : [];
  });
  return (
    <p>
      {PREFIXES[extent]} {formatDuration(rounds * estimateTime(timed, slots))} with {slots}{' '}
      {slots === 1 ? 'slot' : 'slots'}, by past runs of the same instances.{' '}
      <Cost coreHours={rounds * estimateCoreHours(timed)} extent={extent} />
      {extent === 'copies' && 'The test also waits for as many runs of the baseline.'}
    </p>
  );
}

/** The cost of the core hours, for a role that may read the cost rate of the account. */
function Cost({ coreHours, extent }: { coreHours: number; extent: Extent }) {
  const mayRead = useRight('account');
  const usage = operationQuery('getUsage', { query: { group_by: 'day' } });
  const { data } = useQuery(mayRead ? usage : { ...usage, queryFn: skipToken });
  const rate = data?.cost_rate;
  if (!rate || coreHours === 0) return null;
  return (
    <>
      {extent === 'all' ? 'It costs' : 'They cost'} about {formatCost(coreHours * rate.per_core_hour, rate)}.{' '}
    </>
  );
}
