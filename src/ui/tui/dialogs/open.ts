/** From what a screen wants to know to the box that asks it. */
import { unreachable } from '../../../domain/result.ts';
import type { Dialog } from '../shell/overlays/dialog.ts';
import type { Context } from '../shell/screen.ts';
import { compareOverlay } from './compare.ts';
import { chartsOverlay } from './charts.ts';
import { confirmOverlay } from './confirm.ts';
import { formOverlay } from './forms/form.ts';
import { modeOverlay } from './mode.ts';
import type { Overlay } from '../shell/overlays/overlay.ts';
import { pickOverlay } from './pick.ts';
import { readOverlay } from './read.ts';
import { textOverlay } from './text.ts';

export function overlayFor(dialog: Dialog, context: Context): Overlay {
  switch (dialog.is) {
    case 'text':
      return textOverlay(dialog);
    case 'pick':
      return pickOverlay(dialog);
    case 'confirm':
      return confirmOverlay(dialog);
    case 'form':
      return formOverlay(dialog);
    case 'compare':
      return compareOverlay(dialog);
    case 'mode':
      return modeOverlay(dialog.agent, context);
    case 'charts':
      return chartsOverlay();
    case 'read':
      return readOverlay(dialog);
    default:
      return unreachable(dialog);
  }
}
