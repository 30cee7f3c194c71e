/**
 * The server as a process without the site. With a built site, each start reads its files and builds the search index, which
 * takes half a second of processor time. Tests start a hundred processes; tests of the site start their own.
 */
import { runProcess } from '../../process.ts';

await runProcess({ site: '' });
