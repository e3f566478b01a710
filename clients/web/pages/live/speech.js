// SPDX-License-Identifier: Apache-2.0
import { t } from '../lib/i18n.js';

/** How often the microphone is measured, in milliseconds. */
const pace = 200;
/** A level is told each so many measures: the others see it as silent if it is not repeated for 3 s. */
const measuresPerReport = 5;
/** How many measures the seat has to show that the microphone is on. */
const patience = 25;
/** What counts as silence, in decibels below the loudest. */
const silence = 60;

/** How loud samples from −1 to 1 are: 0 (silent) to 100. */
export function loudness(samples) {
  const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
  const decibels = 10 * Math.log10(power || Number.MIN_VALUE);
  return Math.round(100 * Math.min(1, Math.max(0, 1 + decibels / silence)));
}

/** Opens the microphone of a user on a seat. Without one that the browser gives, the seat shows no level. */
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
 * Measures what a microphone hears, shows it at the own seat, and tells it to the others. Nothing is recorded or sent.
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
    // A host may close the microphone, or the seat be lost; the answer to the own call may come before the seat shows
    // it.
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
