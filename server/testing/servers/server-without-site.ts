/**
 * The server as a process that serves no site. Where the site is built, a start reads its files and builds the search index,
 * which is half a second of processor time; tests start a hundred processes, and those of the site start their own.
 */
import { runProcess } from '../../process.ts';

await runProcess({ site: '' });
