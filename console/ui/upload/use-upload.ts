import type { Upload } from '@switchyard/contract/applications/uploads.ts';
import { useBlocker } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import type { UploadOptions, UploadState } from '../../client/uploads/upload-content.ts';
import { UploadCanceledError } from './upload-error.tsx';

/** The upload of a form. */
export interface FormUpload {
  /** null while the form uploads nothing. */
  state: UploadState | null;
  /** Returns the options of a new upload, which replaces an earlier one. */
  begin(): UploadOptions;
  cancel(): void;
}

/**
 * Holds the upload of a form. It ends with the form, so a person who leaves the page while it runs is asked first. Content
 * that is sent again continues where it stopped.
 */
export function useUpload(): FormUpload {
  const [state, setState] = useState<UploadState | null>(null);
  const [begun] = useState(() => new WeakMap<Blob, Upload>());
  const controller = useRef<AbortController>(null);
  const isRunning = useRef(false);
  const cancel = () => controller.current?.abort(new UploadCanceledError());
  useEffect(() => () => controller.current?.abort(new UploadCanceledError()), []);
  useBlocker({
    shouldBlockFn: () => isRunning.current && !window.confirm('Leave the page and cancel the upload?'),
    enableBeforeUnload: () => isRunning.current,
  });
  return {
    state,
    begin() {
      cancel();
      controller.current = new AbortController();
      const { signal } = controller.current;
      const onChange = (next: UploadState | null) => {
        if (signal !== controller.current?.signal) return;
        isRunning.current = next !== null;
        setState(next);
      };
      return { signal, begun, onChange };
    },
    cancel,
  };
}
