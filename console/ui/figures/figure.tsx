import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { type ReactNode, type RefObject, useId, useRef } from 'react';
import { Button } from '../button.tsx';
import { useWidth } from '../charts/use-width.ts';
import { formatCsv } from '../content/format-csv.ts';
import { saveFile } from '../content/save-file.ts';
import { MoreMenu } from '../menu.tsx';
import { formatSvg, renderPng } from './export-figure.ts';
import styles from './figure.module.css';
import { FigureTable, type TableContent } from './figure-table.tsx';

export interface FigureProps {
  title: string;
  /** The main picture of a page has a large heading. */
  isMain?: boolean;
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

/** A picture with its heading, its numbers as a table, and one menu that saves it as SVG, PNG and CSV. */
export function Figure({
  title,
  isMain = false,
  caption,
  table,
  height,
  controls,
  details,
  children,
}: FigureProps) {
  const headingId = useId();
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const Heading = isMain ? 'h2' : 'h3';
  return (
    <section className={styles.figure} aria-labelledby={headingId}>
      <div className={styles.head}>
        <Heading id={headingId}>{escapeInvisible(title)}</Heading>
        {controls}
        <div className={styles.export} data-page-only="">
          <ExportMenu title={title} table={table} frame={frame} />
        </div>
      </div>
      {caption !== undefined && <p className="meta">{escapeInvisible(caption)}</p>}
      <div ref={frame} className={styles.frame}>
        {width > 0 ? children(width) : <svg width="1" height={height} data-undrawn="" aria-hidden="true" />}
      </div>
      <details className={styles.numbers}>
        <summary>Numbers of this picture</summary>
        {details ?? <FigureTable label={`Numbers of ${title}`} table={table} />}
      </details>
    </section>
  );
}

interface ExportMenuProps {
  title: string;
  table: TableContent;
  frame: RefObject<HTMLDivElement | null>;
}

function ExportMenu({ title, table, frame }: ExportMenuProps) {
  const file = title.toLowerCase().replaceAll(/[^a-z\d]+/g, '-');
  const save = async (format: 'SVG' | 'PNG' | 'CSV') => {
    if (format === 'CSV') return saveFile(`${file}.csv`, formatCsv(table), 'text/csv');
    const picture = frame.current?.querySelector('svg');
    if (!picture) return;
    if (format === 'SVG') saveFile(`${file}.svg`, formatSvg(picture), 'image/svg+xml');
    else saveFile(`${file}.png`, await renderPng(picture), 'image/png');
  };
  return (
    <MoreMenu label={`Export ${escapeInvisible(title)}`} icon="download">
      {(['SVG', 'PNG', 'CSV'] as const).map((format) => (
        <Button key={format} onPress={() => save(format)}>
          {format === 'CSV' ? 'Numbers as CSV' : `Picture as ${format}`}
        </Button>
      ))}
    </MoreMenu>
  );
}
