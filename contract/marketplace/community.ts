/**
 * The community apps of the published client: the sample apps of this server. `nextmv community list` and `clone` ask for the
 * address of a file here, and read the file there.
 */
import Type from 'typebox';
import { defineOperation, respond } from '../operation.ts';
import { textSchema } from '../schemas/field-schemas.ts';

/** Longer than the path of any archive: two ids, a version and the fixed parts. */
const FILE_CHARS_MAX = 512;

const FileAddress = Type.Object(
  { url: Type.String({ description: 'Address of the file, which needs no token.' }) },
  { $id: 'FileAddress', description: 'The address of a file.' },
);

export const getCommunityFile = defineOperation({
  id: 'getCommunityFile',
  method: 'GET',
  path: '/v0/internal/tools',
  tag: 'community',
  summary: 'Get the address of a community file',
  description:
    'Returns the address of a file of the community apps: `community-apps/manifest.yml` is their list, and `community-apps/<app>/<version>/<app>_<version>.tar.gz` the archive of one. The community apps are the sample apps of the server. Any other file returns 404, also on a server without the built console, which contains them.',
  right: 'read',
  query: Type.Object({ file: textSchema('Path of the file.', { min: 1, max: FILE_CHARS_MAX }) }),
  responses: respond(200, 'The address.', FileAddress, {
    url: 'http://127.0.0.1:8080/console/samples/vehicle-routing.tgz',
  }),
  errors: [404],
});
