/** Prints the solves of each log whose path is a line of standard input, as JSON, for `compare-reports.py`. */
import { readFileSync } from 'node:fs';
import { createSeriesReader } from '../series-reader.ts';

for (const path of readFileSync(0, 'utf8').split('\n').filter(Boolean)) {
  const reader = createSeriesReader();
  for (const [index, line] of readFileSync(path, 'utf8').split('\n').entries()) reader.push(line, index);
  console.log(JSON.stringify({ path, solves: reader.solves }));
}
