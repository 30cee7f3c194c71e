/** Operations on the executables of an application: upload an archive, and make it the active executable. */
import type { Host } from '@switchyard/runner';
import type { OperationHandler } from '../http/handlers/handler.ts';
import type { AccountSemaphore } from './account-semaphore.ts';
import { formatExecutable } from './executable.ts';
import { insertPush, preparePush } from './push.ts';
import { getApplication, lockLiveApplication } from './store.ts';

declare module '../http/handlers/context.ts' {
  interface Context {
    /** The machine on which apps run; null on a server that runs no apps. */
    host: Host | null;
    /** Limits the concurrent inspections of archives for each account. */
    archiveInspections: AccountSemaphore;
  }
}

export const getBinaryUpload: OperationHandler<'getBinaryUpload'> = async (
  { database, uploads },
  { caller, params },
) => {
  const application = await getApplication(database.read, caller.account, params.application_id);
  const upload = await uploads.create(application.uid, 'executable', caller.key, (tx) =>
    lockLiveApplication(tx, application),
  );
  return { status: 200, body: upload };
};

export const activateBinary: OperationHandler<'activateBinary'> = async (
  context,
  { caller, params, body, commit },
) => {
  const application = await getApplication(context.database.read, caller.account, params.application_id);
  const push = await preparePush(context, {
    application,
    uploadId: body.upload_id ?? null,
    requirements: body.requirements,
    email: caller.email,
  });
  return commit(async (tx) => {
    await insertPush(tx, push);
    const executable = formatExecutable(push.executable, caller.role);
    const { warnings } = push;
    return { status: 200, body: warnings.length === 0 ? executable : { ...executable, warnings } };
  });
};
