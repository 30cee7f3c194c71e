/** A grid of characters on which pictures are drawn, one character for each cell. */

export interface Canvas {
  /** Sets the character of a cell. A cell outside of the grid is ignored. */
  set(column: number, row: number, character: string): void;
  /** The rows from top to bottom, without spaces at their ends. */
  toLines(): string[];
}

/** Returns an empty grid. */
export function createCanvas(columns: number, rows: number): Canvas {
  const cells = Array.from({ length: rows }, () => Array.from({ length: columns }, () => ' '));
  return {
    set: (column, row, character) => {
      const line = cells[row];
      if (line && column >= 0 && column < columns) line[column] = character;
    },
    toLines: () => cells.map((line) => line.join('').trimEnd()),
  };
}

/** Writes the characters of a text from a column on. */
export function writeText(canvas: Canvas, [column, row]: readonly [number, number], text: string): void {
  for (const [index, character] of [...text].entries()) canvas.set(column + index, row, character);
}
