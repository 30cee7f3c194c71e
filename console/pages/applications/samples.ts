/** Pushes a sample app of the gallery. The build packs each into an archive beside the page, with its sample input. */
import { client } from '../../client/client.ts';
import { uploadInput } from '../../client/content.ts';
import { listItems } from '../../client/list-items.ts';
import { queryClient } from '../../client/queries.ts';
import { pushApp } from '../../ui/push/push-app.ts';
import type { Sample } from './sample-list.ts';

/** Id of the managed input with the sample input. */
export const SAMPLE_INPUT = 'sample';

/**
 * Creates the application, pushes the app, and stores its sample input as a managed input. Each step is skipped when an
 * earlier attempt has done it. Throws the refusal of the server.
 */
export async function pushSample({ folder, id, name, description }: Sample): Promise<void> {
  const params = { application_id: id };
  if (!(await exists(id))) await client.call('createApplication', { body: { id, name, description } });
  const path = `${folder}.tgz`;
  const [archive, input] = await Promise.all([readFile(path), readFile(`${folder}.json`)]);
  await pushApp(id, [{ path, file: new File([archive], path) }]);
  const { body: inputs } = await client.call('listInputs', { params, query: { pagereturn: true } });
  if (!listItems(inputs).some((one) => one.id === SAMPLE_INPUT))
    await client.call('createInput', {
      params,
      body: { id: SAMPLE_INPUT, name: 'Sample input', upload_id: await uploadInput(id, input) },
    });
  await queryClient.invalidateQueries({ queryKey: ['listApplications'] });
}

async function exists(id: string): Promise<boolean> {
  const { body } = await client.call('listApplications', { query: { pagereturn: true } });
  return listItems(body).some((application) => application.id === id);
}

/** Reads a file that the build of the console made. */
async function readFile(name: string): Promise<Blob> {
  const response = await fetch(`/console/samples/${name}`);
  if (!response.ok) throw new Error(`The server has no sample ${name}. Push it from a terminal instead.`);
  return response.blob();
}
