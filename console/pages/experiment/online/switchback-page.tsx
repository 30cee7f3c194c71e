import type { SwitchbackComparison } from '@switchyard/contract/experiments/experiment-results.ts';
import { readEffect } from '@switchyard/contract/experiments/presentation/effects.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Notice } from '../../../ui/notice.tsx';
import { Choices } from '../comparison/choices.tsx';
import { SwitchbackTable } from '../comparison/comparison-table.tsx';
import { IntervalPlot } from '../comparison/interval-plot.tsx';
import { Outcome, Paragraphs } from '../comparison/outcome.tsx';
import { DecisionCard } from '../decision-card.tsx';
import { UnitDistribution } from '../distribution/unit-distribution.tsx';
import { ExperimentHeader } from '../experiment-header.tsx';
import styles from '../experiment-page.module.css';
import { FailuresSection } from '../failures-section.tsx';
import { listUnitLooks } from '../next-look/list-looks.ts';
import { NextLookPlot } from '../next-look/next-look-plot.tsx';
import { experimentQuery } from '../queries.ts';
import { useExperimentSearch } from '../use-experiment-search.ts';
import { OnlineActions } from './online-actions.tsx';
import { UnitTimeline } from './unit-timeline.tsx';

/** The result of a switchback test: the verdict, the units over time, and every indicator. */
export function SwitchbackPage({ application, id }: { application: string; id: string }) {
  const { data } = useSuspenseQuery(experimentQuery({ type: 'switchback', application, id }));
  const { search, onSearch } = useExperimentSearch();
  const { compared, plan, comparison: pair } = data;
  const chosen = compared.find(({ indicator }) => indicator === search.indicator) ?? findFirst(compared);
  const names = { control: pair.baseline_instance_id, candidate: pair.candidate_instance_id };
  const choice = {
    label: 'Indicator',
    options: compared.map(({ indicator }) => indicator),
    onChoose: (indicator: string) => onSearch({ indicator }),
  };
  return (
    <>
      <ExperimentHeader
        type="switchback"
        application={application}
        experiment={data}
        actions={<OnlineActions type="switchback" application={application} id={id} status={data.status} />}
      />
      <div className={styles.sections}>
        <DecisionCard application={application} experiment={data} />
        {data.warnings.length > 0 && (
          <Notice kind="warning">
            <Paragraphs texts={data.warnings} />
          </Notice>
        )}
        {chosen ? (
          <>
            <Choices choices={[{ ...choice, chosen: chosen.indicator }]} />
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
                word: one.verdict,
              }))}
            />
            {chosen && <UnitDistribution comparison={chosen} names={names} />}
            <NextLookPlot looks={listUnitLooks(compared)} unit="unit" />
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
