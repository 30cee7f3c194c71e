import { readEffect } from '@switchyard/contract/experiments/presentation/effects.ts';
import { formatHeadline } from '@switchyard/contract/experiments/presentation/headline.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { viewExperiment } from '@switchyard/contract/views/experiment-view.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useMeaning } from '../../../client/indicator-meaning.ts';
import { Choices } from '../evidence/choices.tsx';
import { SwitchbackTable } from '../evidence/comparison-table.tsx';
import styles from '../evidence/evidence.module.css';
import { Evidence, Fold } from '../evidence/evidence.tsx';
import { FailuresSection } from '../evidence/failures-section.tsx';
import { experimentQuery } from '../queries.ts';
import { IndicatorPlot } from '../result/main-picture.tsx';
import { ResultFrame } from '../result/result-frame.tsx';
import { useExperimentSearch } from '../use-experiment-search.ts';
import { describeExperiment } from '../verdict/describe-experiment.ts';
import { listRuleFacts } from '../verdict/list-rule-facts.ts';
import { EndTest, OnlineActions } from './online-actions.tsx';
import { UnitMeans } from './unit-means.tsx';
import { UnitRails } from './unit-rails.tsx';

/** The result of a switchback test: the verdict, the units over time, and every indicator. */
export function SwitchbackPage({ application, id }: { application: string; id: string }) {
  const { data, dataUpdatedAt } = useSuspenseQuery(experimentQuery({ type: 'switchback', application, id }));
  const { search, onSearch } = useExperimentSearch();
  const { nameIndicator, describe } = useMeaning(application);
  const { plan, comparison: pair, status } = data;
  const names = { control: pair.baseline_instance_id, candidate: pair.candidate_instance_id };
  const isRunning = status === 'started';
  const address = { type: 'switchback', application, id } as const;
  const [view] = viewExperiment(address, data).compared;
  const verdict = describeExperiment(address, data, nameIndicator);
  const find = (name: string | undefined) => data.compared.find(({ indicator }) => indicator === name);
  const decidingView =
    view?.indicators.find(({ indicator }) => indicator === verdict?.indicator) ?? view?.indicators[0];
  const deciding = find(decidingView?.indicator);
  const chosen = find(search.indicator) ?? deciding;
  // Other types say it in a reason.
  const more = (verdict?.kind === 'open' && deciding?.more_units) || 0;
  const isMeasured = view?.indicators.some(({ effect }) => effect.value !== null);
  const now = readNow(data, dataUpdatedAt);
  const rails = <UnitRails {...{ plan, names, isRunning, now }} comparison={chosen} isMain={!isMeasured} />;
  const units = `${formatNumber(plan.units.length)} units`;
  const test = { ...address, status };
  return (
    <ResultFrame
      type="switchback"
      application={application}
      experiment={data}
      actions={<OnlineActions {...test} />}
      menu={<EndTest {...test} intent="cancel" />}
      verdict={
        verdict && {
          ...verdict,
          follows: [
            more > 0 ? `About ${formatNumber(more)} more units would decide it.` : [],
            verdict.follows,
          ].flat(),
        }
      }
      empty={
        status === 'draft'
          ? `Not started. The plan has ${units}, which ${names.control} and ${names.candidate} serve in turn.`
          : `No result so far: the comparison appears when units of both instances have ended, of ${units}.`
      }
      sides={{
        control: { instance_id: names.control, version_id: '' },
        candidate: { instance_id: names.candidate, version_id: '' },
      }}
      {...(deciding && {
        rule: listRuleFacts(deciding, { nameIndicator, unit: 'unit' }),
        reasons: [...deciding.reasons, ...deciding.warnings],
      })}
      picture={
        view && decidingView && isMeasured ? (
          <IndicatorPlot {...{ view, nameIndicator, isRunning }} deciding={decidingView} unit="unit" />
        ) : (
          rails
        )
      }
    >
      {chosen && (
        <Evidence
          controls={
            <Choices
              choices={[
                {
                  label: 'Indicator',
                  name: nameIndicator,
                  options: view?.indicators.map(({ indicator }) => indicator) ?? [],
                  chosen: chosen.indicator,
                  onChoose: (indicator) => onSearch({ indicator }),
                },
              ]}
            />
          }
          pictures={
            <>
              {isMeasured && <div className={styles.row}>{rails}</div>}
              {chosen !== deciding && (
                <p className="soft">{formatHeadline({ ...chosen, ...names, effect: readEffect(chosen) })}</p>
              )}
              <UnitMeans
                comparison={chosen}
                candidate={names.candidate}
                label={nameIndicator(chosen.indicator)}
                unit={describe(chosen.indicator).unit}
              />
            </>
          }
        >
          <Fold title="All indicators" finding={`${formatNumber(data.compared.length)} by unit`} isWide>
            <SwitchbackTable comparisons={data.compared} />
          </Fold>
          <FailuresSection
            application={application}
            title="Runs that the candidate refused"
            failures={data.refusals.map((refusal) => ({
              ...refusal,
              instance_id: names.candidate,
              version_id: '',
            }))}
          />
        </Evidence>
      )}
    </ResultFrame>
  );
}

/** Returns the time up to which units have run: the end of the test, or the time of the last response. */
function readNow(
  test: { started_at?: string; completed_at?: string; updated_at: string; status: string },
  readAt: number,
): number | undefined {
  const { started_at, completed_at, updated_at, status } = test;
  if (started_at === undefined) return undefined;
  return status === 'started' ? readAt : Date.parse(completed_at ?? updated_at);
}
