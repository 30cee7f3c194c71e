import { formatBytes } from '@switchyard/contract/presentation/format-quantity.ts';
import { useMutation } from '@tanstack/react-query';
import { type DragEvent, useState } from 'react';
import { queryClient } from '../../../client/queries.ts';
import { Dialog } from '../../../ui/dialog.tsx';
import { Field } from '../../../ui/forms/field.tsx';
import { Notice } from '../../../ui/notice.tsx';
import type { FoundFile } from '../../../ui/push/pack-app.ts';
import { type PushedApp, pushApp } from '../../../ui/push/push-app.ts';
import { UploadError } from '../../../ui/upload/upload-error.tsx';
import { UploadProgress } from '../../../ui/upload/upload-progress.tsx';
import { type FormUpload, useUpload } from '../../../ui/upload/use-upload.ts';
import { listChosenFiles, listDroppedFiles } from './list-files.ts';
import styles from './push-dialog.module.css';

/** Pushes a folder or an archive as the active executable of the application. */
export function PushDialog({ application, onClose }: { application: string; onClose: () => void }) {
  const upload = useUpload();
  const push = usePush(application, upload);
  const [isOver, setOver] = useState(false);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    push.mutate(listDroppedFiles(event.dataTransfer.items));
  };
  const choose = (files: FileList | null) => {
    if (files && files.length > 0) push.mutate(Promise.resolve(listChosenFiles(files)));
  };
  return (
    <Dialog title="Push an app" isWorking={upload.state !== null} onClose={onClose}>
      {push.isError && <UploadError error={push.error} />}
      {push.isPending && <Notice kind="info">Packing and uploading the app …</Notice>}
      <UploadProgress upload={upload} />
      {push.isSuccess && <PushedNotice {...push.data} />}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the fields inside do the same by the keyboard */}
      <div
        className={styles.target}
        data-over={isOver ? '' : undefined}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <p>Drop the folder of the app or its archive here, or choose one.</p>
        <Field
          label="Folder"
          help="The folder with app.yaml. Folders such as .git and .venv are left out, and named."
        >
          {(attributes) => (
            <input
              {...attributes}
              type="file"
              // React has no property for it.
              {...{ webkitdirectory: '' }}
              onChange={(event) => choose(event.target.files)}
            />
          )}
        </Field>
        <Field label="Archive" help="A .tar.gz with app.yaml at its root, at most 500 MB.">
          {(attributes) => (
            <input
              {...attributes}
              type="file"
              accept=".gz,.tgz"
              onChange={(event) => choose(event.target.files)}
            />
          )}
        </Field>
      </div>
      <p className={styles.hint}>
        The browser runs no build and installs no packages. For those, push from a terminal:{' '}
        <code>npm run push -- path/to/app {application}</code>
      </p>
    </Dialog>
  );
}

function PushedNotice({ bytes, files, warnings }: PushedApp) {
  return (
    <>
      <Notice kind="success">
        The app is active: {files !== undefined && `${files} files, `}
        {formatBytes(bytes)} compressed. Runs on the instance latest use it from now on.
      </Notice>
      {warnings.map((warning) => (
        <Notice key={warning} kind="warning">
          {warning}
        </Notice>
      ))}
    </>
  );
}

/** Packs, uploads and activates the files. The server checks the archive, and its refusal is the error. */
function usePush(application: string, upload: FormUpload) {
  return useMutation({
    mutationFn: async (found: Promise<FoundFile[]>) => pushApp(application, await found, upload.begin()),
    onSuccess: () =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey: ['getApplication'] }),
        queryClient.invalidateQueries({ queryKey: ['listApplications'] }),
      ]),
  });
}
