//! The C types of the caller's functions for gradients, and the call object that is passed to them.

use crate::error::{Result, THStatus, bail};
use crate::ops::view;
use crate::tensor::{THTensor, Tensor};
use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_void};
use std::ptr::null;

/// The call of a function of the caller, passed to this function.
pub struct THGradCall {
    /// True for each input that needs a gradient.
    pub needs: Vec<bool>,
    /// The addresses of the inputs, by which a saved tensor is recognised as an input.
    pub inputs: Vec<usize>,
    /// The addresses of the results.
    pub outputs: Vec<usize>,
    /// The saved tensors.
    pub saved: RefCell<SavedList>,
    /// The enclosing call on the same thread.
    outer: Cell<*const THGradCall>,
}

/// Saved tensors, each with its role and the version of its storage.
pub type SavedList = Vec<(Tensor, Role, u64)>;

thread_local! {
    /// The innermost call that runs on this thread.
    static INNERMOST: Cell<*const THGradCall> = const { Cell::new(null()) };
}

/// Keeps a call open until dropped.
pub struct Open<'a>(&'a THGradCall);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        INNERMOST.set(self.0.outer.get());
    }
}

/// The role of a saved tensor in the call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// An input.
    Input(usize),
    /// A result.
    Output(usize),
    /// Any other tensor.
    Other,
}

impl THGradCall {
    /// Returns a call with these inputs and outputs, given by their addresses.
    pub fn new(needs: Vec<bool>, inputs: Vec<usize>, outputs: Vec<usize>, saved: SavedList) -> THGradCall {
        THGradCall { needs, inputs, outputs, saved: RefCell::new(saved), outer: Cell::new(null()) }
    }

    /// Opens the call for the function to which it is passed.
    pub fn open(&self) -> Open<'_> {
        self.outer.set(INNERMOST.replace(self));
        Open(self)
    }

    /// Returns true if `call` is open on this thread. The function may have kept the pointer after the call ended.
    pub fn is_open(call: *const THGradCall) -> bool {
        let mut open = INNERMOST.get();
        while !open.is_null() && !std::ptr::eq(open, call) {
            // SAFETY: open calls are alive, because `Open` removes each call from the chain before the call ends.
            open = unsafe { (*open).outer.get() };
        }
        !open.is_null()
    }

    /// Saves a tensor for the gradient.
    pub fn save(&self, t: &Tensor) -> Result<()> {
        let at = t.as_ptr().addr();
        let input = self.inputs.iter().position(|&input| input == at).map(Role::Input);
        let output = self.outputs.iter().position(|&output| output == at).map(Role::Output);
        let mut saved = self.saved.borrow_mut();
        if saved.try_reserve(1).is_err() {
            bail!(NoMem, "out of memory for a list of saved tensors")
        }
        // Other tensors do not change, so that a reference is enough.
        let kept = if input.or(output).is_some() { view::alias(t)? } else { t.clone() };
        saved.push((kept, input.or(output).unwrap_or(Role::Other), 0));
        Ok(())
    }

    /// Returns a new reference to saved tensor `index`.
    pub fn saved(&self, index: i64) -> Result<Tensor> {
        let saved = self.saved.borrow();
        match usize::try_from(index).ok().and_then(|index| saved.get(index)) {
            Some((t, ..)) => Ok(t.clone()),
            None => bail!(Argument, "index {index} of {} saved tensors", saved.len()),
        }
    }

    /// Returns true if the gradient of an input is wanted.
    pub fn needs(&self, index: i64) -> Result<bool> {
        match usize::try_from(index).ok().and_then(|index| self.needs.get(index)) {
            Some(&needs) => Ok(needs),
            None => bail!(Argument, "index {index} of {} inputs", self.needs.len()),
        }
    }
}

/// Receives a gradient while backward runs.
///
/// To replace the gradient, the function stores in `replacement` a new reference to a tensor of the same shape and dtype; otherwise it
/// leaves NULL there. 0 means continue. Any other returned code stops backward, which returns this code. `gradient` is borrowed and must
/// not be changed.
pub type THGradHook =
    Option<unsafe extern "C" fn(gradient: *const THTensor, replacement: *mut *mut THTensor, context: *mut c_void) -> THStatus>;

/// Computes results from inputs, for `THGrad_checkpoint` and `THGrad_check`.
///
/// The function writes to the `outputCount` handles in `outputs`, which are fresh. 0 means success; any other returned code is returned by
/// the library's function. The tensors are borrowed.
pub type THGradFunction = Option<
    unsafe extern "C" fn(
        inputs: *const *const THTensor,
        inputCount: c_int,
        outputs: *const *mut THTensor,
        outputCount: c_int,
        context: *mut c_void,
    ) -> THStatus,
>;

/// Computes `to` from `from`, for `THGrad_apply`. One function computes results from inputs, another the gradients of the inputs from the
/// gradients of the results.
///
/// The first function is not recorded. It writes to fresh handles, and saves by `THGrad_save` the tensors that the second function needs.
/// For the second function an entry of `from` is NULL if the gradient of this result is 0. An entry of `to` is a fresh handle, or NULL for
/// an input that needs no gradient; a handle that the function leaves fresh means a gradient of 0. 0 means success; any other returned code
/// is returned by `THGrad_apply` or by backward. The tensors are borrowed.
pub type THGradRule = Option<
    unsafe extern "C" fn(
        call: *mut THGradCall,
        from: *const *const THTensor,
        fromCount: c_int,
        to: *const *mut THTensor,
        toCount: c_int,
        context: *mut c_void,
    ) -> THStatus,
>;

/// Computes a loss and the gradients of an optimizer's parameters, for `THOptim_stepClosure`.
///
/// The function stores the loss in `loss`, and the gradients in the parameters, as `THOptim_zeroGrad` followed by `THTensor_backward` does.
/// 0 means continue. Any other returned code ends the step, which returns this code.
pub type THOptimClosure = Option<unsafe extern "C" fn(context: *mut c_void, loss: *mut f64) -> THStatus>;
