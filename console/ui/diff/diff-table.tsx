import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { useState } from 'react';
import { Button } from '../button.tsx';
import { TableHead } from '../resources/table-head.tsx';
import type { DiffLine } from './diff-lines.ts';
import styles from './diff-table.module.css';

/** More rows than this delay the page; a button shows as many again. */
const VISIBLE_LINES = 2_000;
const SIGNS = { added: '+', removed: '-', same: '', gap: '' } as const;

/** Changed lines with the lines around them, numbered as before and after. */
export function DiffTable({ lines }: { lines: readonly DiffLine[] }) {
  const [visible, setVisible] = useState(VISIBLE_LINES);
  if (lines.length === 0) return <p className={styles.summary}>The content is the same.</p>;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by the keyboard */}
      <section className={styles.lines} tabIndex={0} aria-label="Changed lines">
        <table>
          <TableHead texts={['Before', 'After', 'Change', 'Line']} />
          <tbody>
            {lines.slice(0, visible).map((line) => (
              <tr key={`${line.before} ${line.after}`} data-kind={line.kind}>
                <td>{line.before}</td>
                <td>{line.after}</td>
                <td>{SIGNS[line.kind]}</td>
                <td>
                  <code>{line.kind === 'gap' ? '⋯' : formatLine(line.text)}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {lines.length > visible && (
        <Button onPress={() => setVisible(visible + VISIBLE_LINES)}>
          Show more of {lines.length - visible} lines
        </Button>
      )}
    </>
  );
}

/** Returns the line with invisible characters as escapes. Tabs stay, because they indent. */
function formatLine(text: string): string {
  return text.split('\t').map(escapeInvisible).join('\t');
}
