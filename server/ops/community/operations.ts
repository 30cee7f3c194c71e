/** The operation on community apps: the sample apps that the build of the console has packed. */
import { notFound, quoteValue } from '../../platform/http/errors/problem.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import type { ConsoleFiles } from '../site/console.ts';
import { findCommunityFile } from './community-apps.ts';

declare module '../../platform/http/handlers/context.ts' {
  interface Context {
    /** The built console; null on a server without one. */
    consoleFiles: ConsoleFiles | null;
  }
}

export const getCommunityFile: OperationHandler<'getCommunityFile'> = async (
  { consoleFiles, publicUrl },
  { query },
) => {
  if (!consoleFiles)
    throw notFound(
      'This server has no community apps: it runs without the built console, which `npm start` builds.',
    );
  const path = findCommunityFile(consoleFiles, query.file);
  if (path === undefined)
    throw notFound(
      `file is ${quoteValue(query.file)}, which is no file of the community apps; \`nextmv community list\` shows apps and versions.`,
    );
  return { status: 200, body: { url: `${publicUrl()}/console${path}` } };
};
