import type { Comparison } from '@switchyard/contract/experiments/experiment-results.ts';
import figure from '../../../ui/figures/figure.module.css';
import { Figure } from '../../../ui/figures/figure.tsx';
import { Picture } from '../../../ui/figures/picture.tsx';
import styles from './pictures.module.css';

const BAR = 22;
const HEIGHT = 48;

interface TallyBarProps {
  comparison: Pick<Comparison, 'indicator' | 'inputs' | 'objective'>;
  /** One pair in words, such as `input`. */
  unit: string;
}

/** How many inputs the candidate wins, ties and loses, as one bar. */
export function TallyBar({ comparison, unit }: TallyBarProps) {
  const { wins, ties, losses, usable, total } = comparison.inputs;
  // Without a direction no side wins: the API counts higher values as losses.
  const words =
    comparison.objective === 'none'
      ? { wins: 'lower', ties: 'equal', losses: 'higher' }
      : { wins: 'won', ties: 'tied', losses: 'lost' };
  const tones =
    comparison.objective === 'none'
      ? { wins: styles.changed, losses: styles.equal }
      : { wins: styles.good, losses: styles.bad };
  const parts = [
    { word: words.wins, count: wins, className: tones.wins },
    { word: words.ties, count: ties, className: styles.faint },
    { word: words.losses, count: losses, className: tones.losses },
  ];
  const text = parts.map(({ word, count }) => `${count} ${word}`).join(', ');
  const table = {
    columns: ['outcome', `${unit}s`],
    rows: parts.map(({ word, count }) => ({ outcome: word, [`${unit}s`]: count })),
  };
  return (
    <Figure
      title={`Wins, ties and losses by ${unit}`}
      caption={`${usable} of ${total} ${unit}s have an outcome on both sides.`}
      table={table}
      height={HEIGHT}
    >
      {(width) => (
        <Picture width={width} height={HEIGHT} label={`${usable} ${unit}s: ${text}`}>
          {listSegments(parts, width).map(({ word, count, className, start, size }) => (
            <g key={word} className={className}>
              <rect className={styles.part} x={start} y={0} width={size} height={BAR} />
              <title>{`${count} ${word}`}</title>
            </g>
          ))}
          <text className={figure.note} x={0} y={HEIGHT - 8}>
            {text}
          </text>
        </Picture>
      )}
    </Figure>
  );
}

interface Part {
  word: string;
  count: number;
  className: string | undefined;
}

/** Gap between two segments in pixels. */
const GAP = 2;

function listSegments(parts: readonly Part[], width: number): (Part & { start: number; size: number })[] {
  const total = parts.reduce((sum, { count }) => sum + count, 0);
  let counted = 0;
  return parts
    .filter(({ count }) => count > 0)
    .map((part) => {
      const start = (counted / total) * width;
      counted += part.count;
      return { ...part, start, size: Math.max((part.count / total) * width - GAP, 1) };
    });
}
