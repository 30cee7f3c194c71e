/** Content of runs, sent to and read from the signed URLs of the server. The requests go to the origin of the page. */
import { readSignedUrl } from '@switchyard/contract/transfer/signed-url.ts';
import { client } from './client.ts';
import { type UploadOptions, uploadContent } from './uploads/upload-content.ts';

/** Uploads the input of a run, and returns the id of the upload. */
export function uploadInput(application: string, content: Blob, options?: UploadOptions): Promise<string> {
  const params = { application_id: application };
  return uploadContent(() => client.call('createRunUpload', { params }), content, options);
}

/** Uploads the archive of an app, and returns the id of the upload, which is not active yet. */
export function uploadExecutable(
  application: string,
  archive: Blob,
  options?: UploadOptions,
): Promise<string> {
  const params = { application_id: application };
  return uploadContent(() => client.call('getBinaryUpload', { params }), archive, options);
}

/** Reads the content of a signed URL. */
async function download(url: string): Promise<Response> {
  const { id, query } = readSignedUrl(url);
  const { body } = await client.call('getDownload', { params: { download_id: id }, query });
  return new Response(body);
}

/** Reads the input of a run, byte for byte, whatever its format and size. */
export async function downloadInput(application: string, run: string): Promise<Response> {
  const { body } = await client.call('getRunInput', {
    params: { application_id: application, run_id: run },
    query: { format: 'url' },
  });
  return download(readUrl(body));
}

function readUrl(body: unknown): string {
  if (typeof body === 'object' && body !== null && 'url' in body && typeof body.url === 'string')
    return body.url;
  throw new Error('The response has no download URL. Load the page again.');
}
