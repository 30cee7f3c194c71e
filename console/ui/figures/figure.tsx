import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { type ReactNode, type RefObject, useId, useRef } from 'react';
import { Button as AriaButton } from 'react-aria-components';
import { useWidth } from '../charts/use-width.ts';
import { formatCsv } from '../content/format-csv.ts';
import { saveFile } from '../content/save-file.ts';
import { formatSvg, renderPng } from './export-figure.ts';
import styles from './figure.module.css';
import { FigureTable, type TableContent } from './figure-table.tsx';

export interface FigureProps {
  title: string;
  /** Explains how to read the picture. */
  caption?: string;
  /** The numbers of the picture: its table, and the CSV file. */
  table: TableContent;
  /** Height of the picture in pixels before its width is known, so that nothing moves. */
  height: number;
  /** Controls beside the heading, such as a choice of the indicator. */
  controls?: ReactNode;
  /** The table of the picture, if it has more than text; the default shows the numbers. */
  details?: ReactNode;
  /** Draws the picture, one `svg`, in the width in pixels. */
  children: (width: number) => ReactNode;
}

/** A picture with its heading, its numbers as a table, and downloads as SVG, PNG and CSV. */
export function Figure({ title, caption, table, height, controls, details, children }: FigureProps) {
  const headingId = useId();
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  return (
    <section className={styles.figure} aria-labelledby={headingId}>
      <div className={styles.head}>
        <h3 id={headingId}>{escapeInvisible(title)}</h3>
        {controls}
        <Downloads title={title} table={table} frame={frame} />
      </div>
      {caption !== undefined && <p className={styles.caption}>{escapeInvisible(caption)}</p>}
      <div ref={frame}>
        {width > 0 ? children(width) : <svg width="1" height={height} aria-hidden="true" />}
      </div>
      <details className={styles.numbers}>
        <summary>Numbers of this picture</summary>
        {details ?? <FigureTable label={`Numbers of ${title}`} table={table} />}
      </details>
    </section>
  );
}

interface DownloadsProps {
  title: string;
  table: TableContent;
  frame: RefObject<HTMLDivElement | null>;
}

function Downloads({ title, table, frame }: DownloadsProps) {
  const file = title.toLowerCase().replaceAll(/[^a-z\d]+/g, '-');
  const save = async (format: 'SVG' | 'PNG' | 'CSV') => {
    if (format === 'CSV') return saveFile(`${file}.csv`, formatCsv(table), 'text/csv');
    const picture = frame.current?.querySelector('svg');
    if (!picture) return;
    if (format === 'SVG') saveFile(`${file}.svg`, formatSvg(picture), 'image/svg+xml');
    else saveFile(`${file}.png`, await renderPng(picture), 'image/png');
  };
  return (
    <div className={styles.downloads} data-page-only="">
      {(['SVG', 'PNG', 'CSV'] as const).map((format) => (
        <AriaButton
          key={format}
          className={styles.download ?? ''}
          aria-label={`Download ${title} as ${format}`}
          onPress={() => save(format)}
        >
          {format}
        </AriaButton>
      ))}
    </div>
  );
}
