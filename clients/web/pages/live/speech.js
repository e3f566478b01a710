// SPDX-License-Identifier: Apache-2.0
import { t } from '../lib/i18n.js';

/** How often the microphone is measured, in milliseconds. */
const pace = 200;
/** The number of measurements for each report. Others see the user as silent after 3 s without a report. */
const measuresPerReport = 5;
/** The number of measurements within which the seat must show that the microphone is on. */
const patience = 25;
/** The level below which the microphone counts as silent, in decibels relative to the maximum. */
const silence = 60;

/** The loudness of samples from −1 to 1, as a number from 0 (silent) to 100. */
export function loudness(samples) {
  const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
  const decibels = 10 * Math.log10(power || Number.MIN_VALUE);
  return Math.round(100 * Math.min(1, Math.max(0, 1 + decibels / silence)));
}

/** Opens the microphone of a user on a seat. If the browser gives none, the seat shows no level. */
export async function speak(page) {
  let stream;
  try {
    stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  } catch {
    page.shell.say(t('seat.noMicrophone'));
  }
  try {
    await page.stores.seat.unmuteMicrophone();
  } catch (error) {
    if (stream) end(stream);
    throw error;
  }
  if (stream) new Speech(page, stream);
}

function end(stream) {
  for (const track of stream.getTracks()) track.stop();
}

/**
 * Measures the level of a microphone, shows it on the user's seat, and reports it. Sound is neither recorded nor sent.
 */
class Speech {
  #page;
  #stream;
  #audio = new AudioContext();
  #analyser = new AnalyserNode(this.#audio, { fftSize: 1024 });
  #samples = new Float32Array(1024);
  #timer;
  #wasOn = false;
  #measures = 0;
  #peak = 0;
  #told = 0;

  constructor(page, stream) {
    this.#page = page;
    this.#stream = stream;
    this.#audio.createMediaStreamSource(stream).connect(this.#analyser);
    page.speech?.close();
    page.speech = this;
    page.add(() => this.close());
    this.#timer = setInterval(() => this.#measure(), pace);
  }

  close() {
    clearInterval(this.#timer);
    end(this.#stream);
    if (this.#audio.state !== 'closed') void this.#audio.close();
    this.#show(undefined);
  }

  #show(level) {
    this.#page.stage.view.ownSpeaking(this.#page.shell.session.user?.userID, level);
  }

  #measure() {
    this.#measures += 1;
    const isOn = this.#page.seat.ownSeat?.userInfo.microphoneStatus === 'on';
    // A host may lock the microphone, or the user may lose the seat. After the user's own call, the reply may come
    // before the seat shows it.
    if (!isOn && (this.#wasOn || this.#measures > patience)) return this.close();
    this.#wasOn = isOn;
    if (!isOn) return;
    this.#analyser.getFloatTimeDomainData(this.#samples);
    const level = loudness(this.#samples);
    this.#show(level);
    this.#peak = Math.max(this.#peak, level);
    if (this.#measures % measuresPerReport === 0) this.#report();
  }

  #report() {
    const level = this.#peak;
    this.#peak = 0;
    // Silence need not be repeated.
    if (level > 0 || this.#told > 0) this.#page.stores.seat.reportSpeaking({ level }).catch(() => {});
    this.#told = level;
  }
}
