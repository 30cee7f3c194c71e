import type { ComparedGroups } from '@switchyard/contract/experiments/experiment-results.ts';
import type { InputPair } from '@switchyard/contract/experiments/presentation/pair-runs.ts';
import { compareEffects } from '@switchyard/contract/experiments/presentation/rate-experiment.ts';
import type { Racing } from '@switchyard/contract/experiments/racing.ts';
import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import { formatDuration, formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import type { ComparedView, IndicatorView } from '@switchyard/contract/views/experiment-view.ts';
import { findTone } from '../../../ui/experiments/verdict-badge.tsx';
import { IntervalPlot } from '../interval/interval-plot.tsx';
import type { IntervalRow } from '../interval/layout.ts';
import { explainOpen, findForbidding, type Verdict } from '../verdict/describe-verdict.ts';

/** More rows show no pattern; the folded table has all indicators, and the numbers of the picture all candidates. */
const INDICATORS_MAX = 6;
const CANDIDATES_MAX = 40;

interface PictureProps {
  nameIndicator: (indicator: string) => string;
  isRunning: boolean;
}

/** Every indicator that decides or has changed, of one candidate. */
export function IndicatorPlot({
  view,
  deciding,
  unit,
  nameIndicator,
  isRunning,
}: PictureProps & { view: ComparedView; deciding: IndicatorView; unit: string }) {
  const { names, indicators } = view;
  const visible = chooseIndicators(indicators, deciding);
  // Without an estimate there is nothing to draw.
  if (visible.every(({ effect }) => effect.value === null)) return null;
  const rest = indicators.length - visible.length;
  const control = escapeInvisible(names.control);
  const dots = deciding.listPairs ? `; a dot is one ${unit}` : '';
  return (
    <>
      <IntervalPlot
        isMain
        title={`Change to ${control}${isRunning ? ' so far' : ''}`}
        caption={`${describeInterval(deciding)}; grey is no difference that matters${dots}.${rest > 0 ? ` The table below has ${formatNumber(rest)} more.` : ''}`}
        zero={names.control}
        rows={visible.map((one, index) => ({
          key: one.indicator,
          label: nameIndicator(one.indicator),
          note: one.role === 'guardrail' ? 'must not get worse' : undefined,
          ...readRow(one, isRunning),
          ...(index === 0 && { note: 'decides', dots: listChanges(one) }),
        }))}
      />
      <OpenIntervals rows={visible.map((view) => ({ label: nameIndicator(view.indicator), view }))} />
    </>
  );
}

/** The indicator that decides, then others with a role or a direction, then others that have changed. */
function chooseIndicators(
  indicators: readonly IndicatorView[],
  deciding: IndicatorView,
): readonly IndicatorView[] {
  const others = indicators.filter((one) => one !== deciding);
  const judged = [
    deciding,
    ...others.filter(({ role, objective }) => role !== 'other' || objective !== 'none'),
  ];
  const changed = indicators.filter(
    (one) => !judged.includes(one) && (one.verdict === 'higher' || one.verdict === 'lower'),
  );
  return [...judged, ...changed].slice(0, INDICATORS_MAX);
}

function readRow(view: IndicatorView, isRunning: boolean) {
  const { effect, verdict, objective } = view;
  const word = isRunning ? `${verdict} so far` : verdict;
  return { effect, objective, word, tone: findTone(verdict), why: explainOpen(view)?.short };
}

/** Says why intervals that do not contain 0 decide nothing. The rows have the p-value of each. */
function OpenIntervals({ rows }: { rows: readonly { label: string; view: IndicatorView }[] }) {
  const open = rows.filter(({ view }) => explainOpen(view));
  const [first] = open;
  if (!first) return null;
  const names = escapeInvisible(open.map(({ label }) => label).join(', '));
  const verb =
    open.length === 1
      ? 'is undecided, although its interval does'
      : 'are undecided, although their intervals do';
  return (
    <p className="soft">
      {names} {verb} not contain 0. {escapeInvisible(explainOpen(first.view)?.text ?? '')}
    </p>
  );
}

const describeInterval = (view: IndicatorView | undefined): string =>
  view?.effect.isInterim ? 'Intervals that hold at any look' : '95 % intervals';

function listChanges({ listPairs }: IndicatorView): number[] {
  const pairs: readonly InputPair[] = listPairs?.() ?? [];
  return pairs.flatMap(({ change }) => change ?? []);
}

interface CandidatePlotProps extends PictureProps {
  compared: readonly (ComparedView & Pick<ComparedGroups, 'racing'>)[];
  racing: Racing | undefined;
  verdict: Verdict | null;
}

/** Every candidate against the control, in the indicator that decides; a race and its result share their rows. */
export function CandidatePlot({ compared, racing, verdict, nameIndicator, isRunning }: CandidatePlotProps) {
  const ranked = compared.toSorted(
    (one, other) =>
      rank(one, verdict) - rank(other, verdict) ||
      (other.racing?.dropped_after_inputs ?? 0) - (one.racing?.dropped_after_inputs ?? 0) ||
      compareEffects(one, other),
  );
  const first = ranked[0]?.indicators[0];
  const control = compared[0]?.names.control ?? '';
  const label = first ? nameIndicator(first.indicator) : '';
  return (
    <>
      <IntervalPlot
        isMain
        title={`${racing ? 'Race and result' : `Change to ${escapeInvisible(control)}`}${isRunning ? ' so far' : ''}`}
        caption={`Change of ${label}. ${describeInterval(first)}; grey is no difference that matters.`}
        zero={control}
        rows={ranked
          .slice(0, CANDIDATES_MAX)
          .flatMap(({ names, indicators, racing: place }, index): IntervalRow[] => {
            const [one] = indicators;
            if (!one) return [];
            const forbidding = findForbidding({ indicators });
            return [
              {
                ...readRow(one, isRunning),
                ...(place?.status === 'dropped' && {
                  ...{ word: 'stopped', tone: 'open' },
                  why: `after ${formatCount(place.inputs, 'input')}`,
                }),
                ...(forbidding && {
                  ...{ word: 'not allowed', tone: 'bad' },
                  why: `${nameIndicator(forbidding.indicator)} is worse`,
                }),
                key: String(index),
                label: names.candidate,
                note: describeCost(indicators),
                ...(index === 0 && { dots: listChanges(one) }),
                race: place && {
                  inputs: place.inputs,
                  total: racing?.inputs ?? place.inputs,
                  isStopped: place.status === 'dropped',
                },
              },
            ];
          })}
      />
      <OpenIntervals
        rows={ranked.flatMap(({ names, indicators: [view] }) =>
          view ? [{ label: names.candidate, view }] : [],
        )}
      />
      {racing && <RaceSentence racing={racing} compared={compared} />}
    </>
  );
}

/** Orders the best candidate first, and those that the race has dropped last. */
function rank({ names, racing }: CandidatePlotProps['compared'][number], verdict: Verdict | null): number {
  if (names.candidate === verdict?.candidate) return 0;
  return racing?.status === 'dropped' ? 2 : 1;
}

/** Seconds for which apps ran for one result: all child runs of an ensemble, or the one run of another side. */
const COSTS = ['run.total_duration', 'run.duration'];

function describeCost(indicators: readonly IndicatorView[]): string | undefined {
  const cost = COSTS.flatMap((name) => indicators.filter(({ indicator }) => indicator === name))[0]
    ?.candidate;
  return cost == null ? undefined : `${formatDuration(cost * 1000)} a run`;
}

function RaceSentence({ racing, compared }: Pick<CandidatePlotProps, 'compared'> & { racing: Racing }) {
  const { configurations_dropped: dropped, runs_saved: saved } = racing;
  if (dropped === 0) return <p className="soft">No candidate was stopped before the end of its inputs.</p>;
  const inputs = compared.flatMap(({ racing: place }) => place?.dropped_after_inputs ?? []);
  const places = [...new Set(inputs)].toSorted((one, other) => one - other).map((one) => formatNumber(one));
  return (
    <p className="soft">
      {`${formatNumber(dropped)} of ${formatNumber(compared.length)} candidates could no longer win, and stopped after ${places.join(' and ')} inputs. That saved ${formatNumber(saved)} runs.`}
    </p>
  );
}
