/** Shares the stored input of a run with a run that the server creates itself. */
import { ContentRemovedError, type Contents, type SharedContent } from '../../platform/blobs/contents.ts';
import { badRequest } from '../../platform/http/errors/problem.ts';

/** Returns the content under a second id. Throws a 400 with the message when it was deleted, also from its `insert`. */
export async function shareInput(
  contents: Contents,
  contentId: string,
  removedMessage: string,
): Promise<SharedContent> {
  const content = await contents.share(contentId);
  if (!content) throw badRequest(removedMessage);
  return {
    ...content,
    async insert(tx) {
      try {
        await content.insert(tx);
      } catch (error) {
        throw error instanceof ContentRemovedError ? badRequest(removedMessage) : error;
      }
    },
  };
}
