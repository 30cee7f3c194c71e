import type { SwitchbackComparison } from '@switchyard/contract/experiments/experiment-results.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { formatNumber } from '../../../ui/format-quantity.ts';
import { Notice } from '../../../ui/notice.tsx';
import view from '../comparison/comparison-view.module.css';
import { readEffect } from '../comparison/effects.ts';
import { IntervalPlot } from '../comparison/interval-plot.tsx';
import { Outcome, Paragraphs } from '../comparison/outcome.tsx';
import { ExperimentHeader } from '../experiment-header.tsx';
import styles from '../experiment-page.module.css';
import { FailuresSection } from '../failures-section.tsx';
import { switchbackQuery } from '../queries.ts';
import { useExperimentSearch } from '../use-experiment-search.ts';
import { OnlineActions } from './online-actions.tsx';
import { SwitchbackTable } from './switchback-table.tsx';
import { UnitTimeline } from './unit-timeline.tsx';

/** The result of a switchback test: the verdict, the units over time, and every indicator. */
export function SwitchbackPage({ application, id }: { application: string; id: string }) {
  const { data } = useSuspenseQuery(switchbackQuery(application, id));
  const { search, onSearch } = useExperimentSearch();
  const { compared, plan, comparison: pair } = data;
  const chosen = compared.find(({ indicator }) => indicator === search.indicator) ?? findFirst(compared);
  const names = { control: pair.baseline_instance_id, candidate: pair.candidate_instance_id };
  return (
    <>
      <ExperimentHeader
        type="switchback"
        application={application}
        experiment={data}
        actions={<OnlineActions type="switchback" application={application} id={id} status={data.status} />}
      />
      <div className={styles.sections}>
        {data.warnings.length > 0 && (
          <Notice kind="warning">
            <Paragraphs texts={data.warnings} />
          </Notice>
        )}
        {chosen ? (
          <>
            <IndicatorChoice compared={compared} chosen={chosen.indicator} onSearch={onSearch} />
            <Outcome comparison={chosen} names={names} />
          </>
        ) : (
          <Notice kind="info">
            {data.status === 'draft'
              ? `The plan has ${formatNumber(plan.units.length)} units. Start the test to apply it.`
              : 'The comparison appears when units of both instances have ended.'}
          </Notice>
        )}
        <UnitTimeline plan={plan} names={names} {...(chosen && { comparison: chosen })} />
        {compared.length > 0 && (
          <>
            <IntervalPlot
              title="Change of each indicator"
              caption={`${names.candidate} against ${names.control}, with 95 % intervals. The band is the margin of equivalence.`}
              rows={compared.map((one) => ({
                key: one.indicator,
                label: one.indicator,
                effect: readEffect(one),
                verdict: one.verdict,
              }))}
            />
            <SwitchbackTable comparisons={compared} />
          </>
        )}
        <FailuresSection
          application={application}
          title="Runs that the candidate refused"
          failures={data.refusals.map((refusal) => ({
            ...refusal,
            instance_id: names.candidate,
            version_id: '',
          }))}
        />
      </div>
    </>
  );
}

/** Returns the comparison of the primary indicator, or the first one. */
function findFirst(compared: readonly SwitchbackComparison[]): SwitchbackComparison | undefined {
  return compared.find(({ role }) => role === 'primary') ?? compared[0];
}

interface IndicatorChoiceProps {
  compared: readonly SwitchbackComparison[];
  chosen: string;
  onSearch: (search: { indicator: string }) => void;
}

function IndicatorChoice({ compared, chosen, onSearch }: IndicatorChoiceProps) {
  const id = useId();
  if (compared.length < 2) return null;
  return (
    <div className={view.choices} data-page-only="">
      <label htmlFor={id}>
        Indicator
        <select id={id} value={chosen} onChange={(event) => onSearch({ indicator: event.target.value })}>
          {compared.map(({ indicator }) => (
            <option key={indicator} value={indicator}>
              {indicator}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}
