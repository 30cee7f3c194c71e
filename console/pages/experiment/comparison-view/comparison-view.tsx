import type { IndicatorProfile } from '@switchyard/contract/experiments/experiment-profiles.ts';
import type { ComparedGroups } from '@switchyard/contract/experiments/experiment-results.ts';
import type { Objectives } from '@switchyard/contract/experiments/experiment-settings.ts';
import { createGroupNamer } from '@switchyard/contract/experiments/presentation/group-labels.ts';
import type { PairedRun } from '@switchyard/contract/experiments/presentation/pair-runs.ts';
import { type ComparedView, viewGroups } from '@switchyard/contract/views/experiment-view.ts';
import { Notice } from '../../../ui/notice.tsx';
import { Choices } from '../comparison/choices.tsx';
import { ComparisonTable } from '../comparison/comparison-table.tsx';
import styles from '../comparison/comparison-view.module.css';
import { DotPlot } from '../comparison/dot-plot.tsx';
import { IntervalPlot } from '../comparison/interval-plot.tsx';
import { Outcome } from '../comparison/outcome.tsx';
import { ProfilePlot } from '../comparison/profile-plot.tsx';
import { TallyBar } from '../comparison/tally-bar.tsx';
import { DistributionPlot } from '../distribution/distribution-plot.tsx';
import { FeatureSection } from '../features/feature-section.tsx';
import { listInputLooks } from '../next-look/list-looks.ts';
import { NextLookPlot } from '../next-look/next-look-plot.tsx';
import type { ExperimentSearch } from '../search.ts';

/** More rows than fit on a screen show no pattern; the table has all indicators. */
const INTERVALS_MAX = 20;

export interface ComparisonViewProps {
  application: string;
  /** The comparison of each candidate with the control; at least one. */
  compared: readonly ComparedGroups[];
  profiles?: readonly IndicatorProfile[];
  objectives?: Objectives;
  runs: readonly PairedRun[];
  readInput: (run: PairedRun) => string;
  /** One pair in words. */
  unit: 'input' | 'original';
  search: ExperimentSearch;
  onSearch: (changed: ExperimentSearch) => void;
}

/** The verdict, then the pictures that show it, then the table, of one candidate and one indicator. */
export function ComparisonView(props: ComparisonViewProps) {
  const { search, onSearch, application, unit } = props;
  const compared = viewGroups(props.compared, props);
  const chosen = compared.find(({ names }) => names.candidate === search.candidate) ?? compared[0];
  const indicators = chosen?.indicators ?? [];
  const view = indicators.find((one) => one.indicator === search.indicator) ?? indicators[0];
  if (!chosen || !view)
    return (
      <Notice kind="info">
        No indicator can be compared yet. Results appear when runs end on both sides.
      </Notice>
    );
  const { indicator, objective, effect, comparison } = view;
  const { control, candidate, names } = chosen;
  const comparisons = indicators.map((one) => one.comparison);
  const profile = props.profiles?.find((one) => one.indicator === indicator);
  const pairs = view.listPairs();
  const nameGroup = createGroupNamer(compared.flatMap((one) => [one.control, one.candidate]));
  const sides = { control, candidate, nameGroup };
  return (
    <div className={styles.view}>
      <Choices
        choices={[
          {
            label: 'Candidate',
            options: compared.map((one) => one.names.candidate),
            chosen: names.candidate,
            onChoose: (name) => onSearch({ candidate: name }),
          },
          {
            label: 'Indicator',
            options: indicators.map((one) => one.indicator),
            chosen: indicator,
            onChoose: (name) => onSearch({ indicator: name }),
          },
        ]}
      />
      <Outcome {...{ comparison, names, unit }} {...(chosen.racing && { racing: chosen.racing })} />
      {compared.length > 1 && <CandidatePlot compared={compared} indicator={indicator} />}
      <IndicatorPlot indicators={indicators} names={names} />
      {pairs.length > 0 && <DotPlot {...{ application, indicator, objective, effect, pairs, unit }} />}
      <TallyBar comparison={comparison} unit={unit} />
      <DistributionPlot
        source={{ runs: props.runs, indicator, readInput: props.readInput }}
        {...{ application, ...sides, profile, effect, pairs, unit }}
      />
      {profile && <ProfilePlot profile={profile} {...sides} />}
      {comparison.interactions && (
        <FeatureSection
          {...{ indicator, interactions: comparison.interactions }}
          {...{ application, effect, pairs, unit }}
          chosen={{ feature: search.feature, group: search.group }}
          onChoose={onSearch}
        />
      )}
      <NextLookPlot looks={listInputLooks(comparisons)} unit={unit} />
      <ComparisonTable comparisons={comparisons} />
    </div>
  );
}

/** Every candidate against the control, for one indicator. */
function CandidatePlot({ compared, indicator }: { compared: readonly ComparedView[]; indicator: string }) {
  const rows = compared.flatMap(({ names, indicators }, index) => {
    const view = indicators.find((one) => one.indicator === indicator);
    if (!view) return [];
    return [{ key: String(index), label: names.candidate, effect: view.effect, word: view.verdict }];
  });
  return (
    <IntervalPlot
      title={`Candidates in ${indicator}`}
      caption="The change of each candidate against the control, with its 95 % interval. The band is the margin of equivalence."
      rows={rows}
    />
  );
}

function IndicatorPlot({ indicators, names }: ComparedView) {
  const visible = indicators.slice(0, INTERVALS_MAX);
  const rest = indicators.length - visible.length;
  return (
    <IntervalPlot
      title="Change of each indicator"
      caption={`${names.candidate} against ${names.control}, with 95 % intervals. The band is the margin of equivalence; the vertical line is no change.${rest > 0 ? ` The table below has ${rest} more.` : ''}`}
      rows={visible.map(({ indicator, effect, verdict }) => ({
        ...{ key: indicator, label: indicator, effect, word: verdict },
      }))}
    />
  );
}
