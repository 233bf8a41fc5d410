# SPDX-License-Identifier: MIT
"""Headless Chromium, driven by Debian's chromium-driver."""
import base64
import contextlib
import json
import os
import tempfile

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

ARGUMENTS = ('headless=new', 'no-sandbox', 'disable-gpu', 'disable-dev-shm-usage', 'no-first-run',
             'hide-scrollbars', 'disable-background-networking', 'disable-component-update')


class Page:
    """One browser; show() opens a report as a screen of this width would."""

    def __init__(self, driver):
        self.driver = driver

    def size(self, width, height):
        self.driver.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', {
            'width': width, 'height': height, 'deviceScaleFactor': 1, 'mobile': False})

    def show(self, path, width=1400, theme='light', media=''):
        self.driver.get('about:blank')
        self.size(width, 1000)
        self.driver.execute_cdp_cmd('Emulation.setEmulatedMedia', {
            'media': media, 'features': [{'name': 'prefers-color-scheme', 'value': theme}]})
        self.complaints()
        self.requests()
        self.driver.get('file://' + os.path.abspath(path))

    def ask(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def complaints(self):
        """What the console got since the last time."""
        return [entry['message'] for entry in self.driver.get_log('browser')]

    def requests(self):
        """What was asked for since the last time."""
        found = []
        for entry in self.driver.get_log('performance'):
            message = json.loads(entry['message'])['message']
            if message['method'] == 'Network.requestWillBeSent':
                found.append(message['params']['request']['url'])
        return found

    def picture(self, path, most=8000):
        height = self.ask('return document.documentElement.scrollHeight')
        self.size(self.ask('return innerWidth'), min(height, most))
        with open(path, 'wb') as file:
            file.write(base64.b64decode(self.driver.get_screenshot_as_base64()))


@contextlib.contextmanager
def browser():
    with tempfile.TemporaryDirectory() as home:
        options = webdriver.ChromeOptions()
        options.binary_location = '/usr/bin/chromium'
        for argument in ARGUMENTS + (f'user-data-dir={home}',):
            options.add_argument('--' + argument)
        options.set_capability('goog:loggingPrefs', {'browser': 'ALL', 'performance': 'ALL'})
        service = Service('/usr/bin/chromedriver', log_path=os.devnull)
        driver = webdriver.Chrome(service=service, options=options)
        try:
            driver.set_page_load_timeout(200)
            driver.set_script_timeout(200)
            yield Page(driver)
        finally:
            driver.quit()
