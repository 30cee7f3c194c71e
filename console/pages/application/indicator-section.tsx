import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMeaning } from '../../client/indicator-meaning.ts';
import styles from './application-page.module.css';
import { IndicatorChart } from './indicator-chart.tsx';
import { buildInstanceSeries, listNumericIndicators } from './indicator-points.ts';
import { describeDirection } from './objective-dialog.tsx';
import { recentRunsQuery } from './queries.ts';

/** The chart of one indicator over the latest runs. Without numbers in them there is nothing to show. */
export function IndicatorSection({ application }: { application: string }) {
  const { objective } = useMeaning(application);
  const { data } = useSuspenseQuery(recentRunsQuery(application));
  const search = useSearch({ from: '/signed-in/apps/$application/' });
  const navigate = useNavigate({ from: '/apps/$application/' });
  const indicators = listNumericIndicators(data.runs);
  const [first] = indicators;
  if (first === undefined) return null;
  const chosen = [search.indicator, objective.name].find(
    (name) => name !== undefined && indicators.includes(name),
  );
  const indicator = chosen ?? first;
  return (
    <section aria-labelledby="trend">
      <div className={styles.heading}>
        <h2 id="trend">
          {objective.direction !== null && indicator === objective.name
            ? `Objective of recent runs, ${describeDirection(objective.direction)}`
            : 'Indicator of recent runs'}
        </h2>
        <label>
          Indicator{' '}
          <select
            value={indicator}
            onChange={(event) => navigate({ search: { indicator: event.target.value }, replace: true })}
          >
            {indicators.map((name) => (
              <option key={name} value={name}>
                {escapeInvisible(name)}
              </option>
            ))}
          </select>
        </label>
      </div>
      <IndicatorChart indicator={indicator} series={buildInstanceSeries(data.runs, indicator)} />
    </section>
  );
}
