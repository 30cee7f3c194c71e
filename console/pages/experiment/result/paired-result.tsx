import type { IndicatorProfile } from '@switchyard/contract/experiments/experiment-profiles.ts';
import type { ComparedGroups } from '@switchyard/contract/experiments/experiment-results.ts';
import type { Objectives } from '@switchyard/contract/experiments/experiment-settings.ts';
import { formatHeadline } from '@switchyard/contract/experiments/presentation/headline.ts';
import type { PairedRun } from '@switchyard/contract/experiments/presentation/pair-runs.ts';
import type { Racing } from '@switchyard/contract/experiments/racing.ts';
import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { viewGroups } from '@switchyard/contract/views/experiment-view.ts';
import type { ReactNode } from 'react';
import { useMeaning } from '../../../client/indicator-meaning.ts';
import { Choices } from '../evidence/choices.tsx';
import { Evidence } from '../evidence/evidence.tsx';
import { PairedFolds, PairedPictures } from '../evidence/paired-evidence.tsx';
import type { ExperimentSearch } from '../search.ts';
import type { Sides } from '../sides.ts';
import { describeVerdict, type Verdict } from '../verdict/describe-verdict.ts';
import { listRuleFacts } from '../verdict/list-rule-facts.ts';
import { CandidatePlot, IndicatorPlot } from './main-picture.tsx';
import { ResultFrame, type ResultFrameProps } from './result-frame.tsx';

export interface PairedResultProps
  extends Omit<ResultFrameProps, 'verdict' | 'sides' | 'rule' | 'reasons' | 'children'> {
  /** The verdict by other rules than those of the comparison. */
  verdict?: Verdict | null;
  /** The comparison of each candidate with the control. */
  compared: readonly ComparedGroups[];
  racing?: Racing | undefined;
  optionSets?: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined;
  profiles?: readonly IndicatorProfile[] | undefined;
  objectives?: Objectives | undefined;
  runs: readonly PairedRun[];
  readInput: (run: PairedRun) => string;
  /** One pair in words. */
  unit: 'input' | 'original';
  search: ExperimentSearch;
  onSearch: (changed: ExperimentSearch) => void;
  /** Folded evidence beside that of the comparison. */
  folds: ReactNode;
}

/** The result of an experiment whose runs are paired: the page shows the answer, then one candidate and indicator. */
export function PairedResult(props: PairedResultProps) {
  const { application, experiment, search, onSearch, unit, optionSets = {} } = props;
  const { nameIndicator, describe } = useMeaning(application);
  const isRunning = experiment.status === 'started';
  const compared = viewGroups(props.compared, props);
  const described = describeVerdict({
    ...{ decision: experiment.decision, compared, isRunning, unit, nameIndicator },
  });
  const verdict = props.verdict === undefined ? described : props.verdict;
  const subject =
    compared.find(({ names }) => names.candidate === verdict?.candidate) ??
    (compared.length === 1 ? compared[0] : undefined);
  const chosen = compared.find(({ names }) => names.candidate === search.candidate) ?? subject ?? compared[0];
  const find = (view: typeof chosen, name: string | undefined) =>
    view?.indicators.find(({ indicator }) => indicator === name) ?? view?.indicators[0];
  const view = find(chosen, search.indicator ?? verdict?.indicator);
  const deciding = find(subject, verdict?.indicator);
  return (
    <ResultFrame
      {...props}
      verdict={verdict}
      sides={subject && readSides(subject, optionSets)}
      {...(deciding &&
        props.verdict === undefined && {
          rule: listRuleFacts(deciding.comparison, { nameIndicator, unit }),
          reasons: [...deciding.reasons, ...deciding.warnings],
        })}
      picture={
        props.picture ??
        (compared.length > 1 ? (
          <CandidatePlot
            {...{ compared, nameIndicator, isRunning }}
            racing={props.racing}
            verdict={verdict}
          />
        ) : (
          subject &&
          deciding && (
            <IndicatorPlot view={subject} deciding={deciding} {...{ unit, nameIndicator, isRunning }} />
          )
        ))
      }
    >
      {chosen && view ? (
        <Evidence
          controls={
            <Choices
              choices={[
                {
                  label: 'Candidate',
                  options: compared.map((one) => one.names.candidate),
                  chosen: chosen.names.candidate,
                  onChoose: (candidate) => onSearch({ candidate }),
                },
                {
                  label: 'Indicator',
                  name: nameIndicator,
                  options: chosen.indicators.map((one) => one.indicator),
                  chosen: view.indicator,
                  onChoose: (indicator) => onSearch({ indicator }),
                },
              ]}
            />
          }
          pictures={
            <>
              {view !== deciding && (
                <p className="soft">
                  {formatHeadline({ ...view, ...chosen.names, indicator: nameIndicator(view.indicator) })}{' '}
                  {escapeInvisible([...view.reasons, ...view.warnings].join(' ')).replaceAll(' %', '\u00a0%')}
                </p>
              )}
              <PairedPictures {...props} {...{ compared, chosen, view, nameIndicator, describe }} />
            </>
          }
        >
          <PairedFolds {...props} {...{ compared, chosen, view, nameIndicator, describe }} />
          {props.folds}
        </Evidence>
      ) : (
        <Evidence>{props.folds}</Evidence>
      )}
    </ResultFrame>
  );
}

function readSides(
  { control, candidate }: Pick<ComparedGroups, 'control' | 'candidate'>,
  optionSets: Readonly<Record<string, Readonly<Record<string, string>>>>,
): Sides {
  const options = optionSets[candidate.option_set ?? ''];
  return { control, candidate, ...(options && { options }) };
}
