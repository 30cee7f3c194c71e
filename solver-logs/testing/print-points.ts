/** Prints the points of a log as JSON, one a line, for `compare-parsers.py`: `node print-points.ts <log>`. */
import { readFileSync } from 'node:fs';
import { createSeriesReader } from '../series-reader.ts';

const reader = createSeriesReader();
const lines = readFileSync(process.argv[2] ?? '', 'latin1').split('\n');
for (const [index, line] of lines.entries()) {
  for (const point of reader.push(line, index)) console.log(JSON.stringify(point));
}
