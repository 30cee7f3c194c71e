import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import { useMemo, useRef } from 'react';
import { useWidth } from '../../../ui/charts/use-width.ts';
import figure from '../../../ui/figures/figure.module.css';
import { fitText } from '../../../ui/figures/fit-text.ts';
import { Picture } from '../../../ui/figures/picture.tsx';
import { formatName } from '../../../ui/solution/read-routes.ts';
import { type Flow, layoutFlow, type PlanDifference } from './compare-plans.ts';
import styles from './plan.module.css';

const NAMES_MAX_PX = 150;
const NAMES_SHARE = 0.27;
const NODE_PX = 10;
const HEAD_PX = 24;
const LANES_MAX = 60;

interface FlowPictureProps {
  difference: PlanDifference;
  colours: ReadonlyMap<string, string>;
  label: string;
}

/** What moved where: lanes of both plans, with a band for the items between them. What stayed is grey. */
export function FlowPicture({ difference, colours, label }: FlowPictureProps) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const flow = useMemo(() => layoutFlow(difference), [difference]);
  const { item, lane } = difference.words;
  if (difference.lanes.length > LANES_MAX)
    return (
      <p className="soft">
        {`${formatCount(difference.lanes.length, lane)} are too many for a picture. The tables list what moved.`}
      </p>
    );
  return (
    <div ref={frame}>
      {width > 0 && (
        <Picture width={width} height={flow.height + HEAD_PX} label={label}>
          <Drawing {...{ flow, width, colours, item }} />
        </Picture>
      )}
    </div>
  );
}

interface DrawingProps {
  flow: Flow;
  width: number;
  colours: ReadonlyMap<string, string>;
  item: string;
}

function Drawing({ flow: { nodes, bands }, width, colours, item }: DrawingProps) {
  const names = Math.min(NAMES_MAX_PX, Math.floor(width * NAMES_SHARE));
  const [left, right] = [names + NODE_PX, width - names - NODE_PX];
  const middle = (left + right) / 2;
  const moved = (band: Flow['bands'][number]) => band.from !== band.to;
  return (
    <g transform={`translate(0 ${HEAD_PX})`}>
      {['A', 'B'].map((letter, side) => (
        <text
          key={letter}
          x={side === 0 ? left : right}
          y={-10}
          className={`${figure.note} ${side === 0 ? figure.end : ''}`}
        >
          {letter}
        </text>
      ))}
      {bands
        .toSorted((one, other) => Number(moved(one)) - Number(moved(other)))
        .map((band) => {
          const { from, to, count, height, tops } = band;
          const [y, end] = tops;
          return (
            <path
              key={`${from}\n${to}`}
              d={`M${left} ${y}C${middle} ${y} ${middle} ${end} ${right} ${end}v${height}C${middle} ${end + height} ${middle} ${y + height} ${left} ${y + height}z`}
              style={moved(band) ? { fill: colours.get(to) } : undefined}
              className={moved(band) ? styles.moved : styles.kept}
            >
              <title>{`${formatCount(count, item)} from ${formatName(from)} to ${formatName(to)}`}</title>
            </path>
          );
        })}
      {nodes.map((side, index) =>
        side.map(({ lane, top, height, count, alone }) => {
          const x = index === 0 ? names - 6 : right + NODE_PX + 6;
          const name = formatName(lane);
          const anchor = index === 0 ? (figure.end ?? '') : '';
          return (
            <g key={`${index} ${lane}`}>
              <rect
                x={index === 0 ? names : right}
                y={top}
                width={NODE_PX}
                height={Math.max(2, height)}
                rx={2}
                style={{ fill: colours.get(lane) }}
              />
              <text x={x} y={top + height / 2 - 1} className={`${figure.label} ${anchor}`}>
                <title>{name}</title>
                {fitText(name, names - 6)}
              </text>
              <text x={x} y={top + height / 2 + 14} className={`${figure.note} ${anchor}`}>
                {`${formatCount(count, item)}${alone === 0 ? '' : `, ${alone} ${index === 0 ? 'gone' : 'new'}`}`}
              </text>
            </g>
          );
        }),
      )}
    </g>
  );
}
