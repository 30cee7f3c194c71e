/** Prints the result of a command in the form that the caller chose. */
import { formatExactJson } from '@switchyard/contract/exact-json.ts';
import { cleanStyledText, escapeControls } from './clean-text.ts';
import { createStyle, type Style } from './style.ts';
import { type Column, type Columns, formatTable } from './table.ts';
import { getColumns, getTableColumns, type Terminal } from './terminal.ts';

/** The form of a result: text for people, the response of the API as JSON, or ids alone. */
export type Form = 'text' | 'json' | 'quiet';

/** Selects from a JSON text, and returns the lines to print, each with a line feed. */
export type Selection = (json: string) => string;

/** The forms of one result. Without `quiet` nothing is printed with `--quiet`. */
interface Result {
  /** The body of the response, unchanged. */
  json: unknown;
  text: () => string;
  quiet?: () => string | readonly string[];
}

export interface Output {
  readonly form: Form;
  readonly style: Style;
  /** Columns of a picture. */
  readonly width: number;
  /** Columns of a table; infinite in a file or a pipe. */
  readonly tableWidth: number;
  /** Prints the result to standard output. */
  print(result: Result): void;
  /** Prints one sentence or line: the ids in its place with `--quiet`. */
  printSentence(json: unknown, sentence: string, ids: string | readonly string[]): void;
  /** Prints JSON, or what `--select` selects from it. `isLine` keeps it on one line, for streams of values. */
  printJson(value: unknown, options?: { isLine?: boolean }): void;
  /** Prints a list of rows as a table, or the sentence when it has none. */
  printTable<Row>(
    rows: readonly Row[],
    columns: Columns<Row> | readonly Column<Row>[],
    options: { json: unknown; empty: string; id: (row: Row) => string },
  ): void;
  /** Prints a line about progress to standard error: nothing with `--json` and `--quiet`. */
  note(line: string): void;
  /** Prints a warning to standard error, in every form. */
  warn(line: string): void;
}

/** Returns the output of a command. */
export function createOutput(terminal: Terminal, form: Form, selection?: Selection): Output {
  const style = createStyle(terminal);
  const tableWidth = getTableColumns(terminal);
  // Names and messages of other people are in most texts; a file or a pipe gets them unchanged.
  const write = (stream: Terminal['out'], text: string): unknown =>
    stream.write(stream.isTTY === true ? cleanStyledText(text) : text);
  const printJson: Output['printJson'] = (value, { isLine = false } = {}) => {
    // Indented, the largest outputs are longer than a string can be.
    if (selection) return void write(terminal.out, selection(formatExactJson(value)));
    const json = formatExactJson(value, isLine ? 0 : 2);
    terminal.out.write(`${terminal.out.isTTY === true ? escapeControls(json) : json}\n`);
  };
  const print = ({ json, text, quiet = () => [] }: Result): void => {
    if (form === 'json') printJson(json);
    else if (form === 'text') write(terminal.out, text());
    else for (const line of [quiet()].flat()) write(terminal.out, `${line}\n`);
  };
  return {
    form,
    style,
    width: getColumns(terminal),
    tableWidth,
    print,
    printSentence: (json, sentence, ids) => print({ json, text: () => `${sentence}\n`, quiet: () => ids }),
    printJson,
    printTable: (rows, columns, { json, empty, id }) =>
      print({
        json,
        text: () => (rows.length === 0 ? `${empty}\n` : formatTable(rows, columns, { tableWidth, style })),
        quiet: () => rows.map(id),
      }),
    note: (line) => {
      if (form === 'text') write(terminal.err, `${line}\n`);
    },
    warn: (line) => write(terminal.err, `Warning: ${line}\n`),
  };
}
