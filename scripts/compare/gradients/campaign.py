"""Random programs, run by thorn and by PyTorch, whose gradients are compared."""

from ..campaign import Campaign
from .program import Maker, fault, minimised


class Programs(Campaign):
    noun = "program"
    cases = 3000
    # A failed program is run again without each of its steps.
    seconds = 120

    def begin(self, thorn):
        super().begin(thorn)
        thorn.THGrad_setEnabled(1)

    def fault(self, number):
        steps = Maker(self.options.seed, number).make()
        self.say(number, "", *steps)
        wrong = fault(self.thorn, steps)
        if wrong is None:
            return None
        fewer = minimised(self.thorn, steps)
        return "\n    ".join(map(str, [fault(self.thorn, fewer) or wrong, *fewer]))
