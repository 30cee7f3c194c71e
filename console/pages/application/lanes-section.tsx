import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { applicationQuery, instancesQuery } from '../../client/applications.ts';
import { useMeaning } from '../../client/indicator-meaning.ts';
import { formatJudged } from '../../client/judged-values.ts';
import { listItems } from '../../client/list-items.ts';
import styles from './application-page.module.css';
import { LanesPicture, type NamedLane } from './lanes-picture.tsx';
import { listLanes, listMedians, listNumericIndicators } from './list-lanes.ts';
import { recentRunsQuery } from './queries.ts';

/** More instances than these are no picture. */
const LANES_MAX = 6;

/** The versions that the instances ran, and an indicator of these runs below, with the medians of both versions in words. */
export function LanesSection({ application }: { application: string }) {
  const { objective } = useMeaning(application);
  const { data } = useSuspenseQuery(recentRunsQuery(application));
  const search = useSearch({ from: '/signed-in/apps/$application/' });
  const indicators = listNumericIndicators(data.runs);
  const chosen = [search.indicator, objective.name].find(
    (name) => name !== undefined && indicators.includes(name),
  );
  const indicator = chosen ?? indicators[0];
  const lanes = useNamedLanes(application, indicator ?? '');
  if (data.runs.length < 2) return null;
  const isObjective = indicator === objective.name;
  const unit = isObjective ? objective.unit : '';
  const label = isObjective ? [objective.label, unit].filter(Boolean).join(', ') : indicator;
  const shown = lanes.slice(0, LANES_MAX);
  return (
    <section aria-labelledby="lanes">
      <div className={styles.heading}>
        <h2 id="lanes">What runs where, and what it brought</h2>
        {indicator !== undefined && <IndicatorChoice {...{ application, indicators }} value={indicator} />}
      </div>
      <LanesPicture lanes={shown} trend={label} />
      <p className={styles.says}>
        {shown[0] && describeMedians(shown[0], label ?? '', unit)} The last{' '}
        {formatCount(data.runs.length, 'production run')}
        {lanes.length > LANES_MAX && ` on the ${LANES_MAX} instances with most of ${lanes.length}`}.
      </p>
    </section>
  );
}

/** Returns the lanes of the runs with the names and versions of their instances. */
function useNamedLanes(application: string, indicator: string): NamedLane[] {
  const { data: app } = useSuspenseQuery(applicationQuery(application));
  const { data: found } = useSuspenseQuery(instancesQuery(application));
  const { data } = useSuspenseQuery(recentRunsQuery(application));
  const isDefault = app.default_instance || 'latest';
  return listLanes(data.runs, indicator, isDefault).map((lane) => {
    const instance = listItems(found).find(({ id }) => id === lane.instance);
    const count = formatCount(lane.points.length, 'run');
    return {
      ...lane,
      name: instance?.name ?? (lane.instance || 'Ensembles'),
      note: lane.instance === isDefault ? `default, ${count}` : count,
      current: instance?.version_id ?? '',
    };
  });
}

/** Returns the medians of the newest two versions of an instance in words; empty without a value. */
function describeMedians(lane: NamedLane, label: string, unit: string): string {
  const [newest, before] = listMedians(lane);
  if (!newest) return '';
  const describe = ({ version, median, runs }: typeof newest): string =>
    `${formatJudged(median, unit)} with ${escapeInvisible(version || 'the newest executable')} in ${formatCount(runs, 'run')}`;
  const text = `Median of ${escapeInvisible(label.split(', ')[0] ?? '')} on ${escapeInvisible(lane.name)}: ${describe(newest)}`;
  return before ? `${text}, ${describe(before)}.` : `${text}.`;
}

type ChoiceProps = { application: string; value: string; indicators: readonly string[] };

function IndicatorChoice({ application, value, indicators }: ChoiceProps) {
  const { nameIndicator } = useMeaning(application);
  const navigate = useNavigate({ from: '/apps/$application/' });
  return (
    <label className={styles.choice}>
      Indicator{' '}
      <select
        value={value}
        onChange={(event) => navigate({ search: { indicator: event.target.value }, replace: true })}
      >
        {indicators.map((name) => (
          <option key={name} value={name}>
            {nameIndicator(name)}
          </option>
        ))}
      </select>
    </label>
  );
}
