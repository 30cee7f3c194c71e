/** Content of runs, sent to and read from the signed URLs of the server. The requests go to the origin of the page. */
import { client } from './client.ts';

/** Returns the parameters of a signed URL, for the operation that it addresses. */
function readSignedUrl(url: string) {
  const { pathname, searchParams } = new URL(url, location.href);
  return {
    id: decodeURIComponent(pathname.split('/').at(-1) ?? ''),
    query: Object.fromEntries(searchParams),
  };
}

/** Uploads the input of a run, and returns the id of the upload. */
export async function uploadInput(application: string, content: Blob): Promise<string> {
  const { body } = await client.call('createRunUpload', { params: { application_id: application } });
  return putContent(body, content);
}

/** Uploads the archive of an app, and returns the id of the upload, which is not active yet. */
export async function uploadExecutable(application: string, archive: Blob): Promise<string> {
  const { body } = await client.call('getBinaryUpload', { params: { application_id: application } });
  return putContent(body, archive);
}

async function putContent(upload: { upload_id: string; upload_url: string }, content: Blob): Promise<string> {
  const { id, query } = readSignedUrl(upload.upload_url);
  await client.call('putUpload', { params: { upload_id: id }, query, body: content });
  return upload.upload_id;
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
