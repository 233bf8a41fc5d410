! SPDX-License-Identifier: MIT
!
! libcachepeek's region markers for Fortran.  Compile this file with the program;
! nothing is linked, and without the preloaded library a marker does nothing.
!
!     use cachepeek
!
!     call cachepeek_begin('solve')            ! by name: looked up each time
!     call cachepeek_end('solve')
!
!     type(cachepeek_region) :: halo           ! or registered once
!     halo = cachepeek_region_register('halo')
!     call cachepeek_begin(halo)
!     call cachepeek_end(halo)
!
! Blanks at the end of a name do not count.
module cachepeek
   use, intrinsic :: iso_c_binding
   implicit none
   private

   type, public :: cachepeek_region
      private
      type(c_ptr) :: handle = c_null_ptr
   end type

   public :: cachepeek_region_register, cachepeek_begin, cachepeek_end
   public :: cachepeek_read, cachepeek_pause, cachepeek_resume, cachepeek_flush
   public :: cachepeek_active

   interface cachepeek_begin
      module procedure begin_region, begin_name
   end interface
   interface cachepeek_end
      module procedure end_region, end_name
   end interface

   ! struct cachepeek_api of cachepeek.h
   type, bind(c) :: api_table
      integer(c_size_t) :: size
      type(c_funptr) :: region_register, begin, end, read
      type(c_funptr) :: pause, resume, flush, begin_named, end_named
   end type

   abstract interface
      function register_function(name) bind(c)
         import :: c_ptr, c_char
         character(kind=c_char), intent(in) :: name(*)
         type(c_ptr) :: register_function
      end function
      subroutine region_function(region) bind(c)
         import :: c_ptr
         type(c_ptr), value :: region
      end subroutine
      subroutine name_function(name) bind(c)
         import :: c_char
         character(kind=c_char), intent(in) :: name(*)
      end subroutine
      function read_function(quantity, value) bind(c)
         import :: c_char, c_int, c_int64_t
         character(kind=c_char), intent(in) :: quantity(*)
         integer(c_int64_t), intent(out) :: value
         integer(c_int) :: read_function
      end function
      subroutine plain_function() bind(c)
      end subroutine
   end interface

   interface
      function dlsym(handle, name) bind(c, name='dlsym')
         import :: c_ptr, c_char
         type(c_ptr), value :: handle
         character(kind=c_char), intent(in) :: name(*)
         type(c_ptr) :: dlsym
      end function
   end interface

   procedure(register_function), pointer :: api_register => null()
   procedure(region_function), pointer :: api_begin => null(), api_end => null()
   procedure(read_function), pointer :: api_read => null()
   procedure(plain_function), pointer :: api_pause => null(), api_resume => null()
   procedure(plain_function), pointer :: api_flush => null()
   procedure(name_function), pointer :: api_begin_named => null()
   procedure(name_function), pointer :: api_end_named => null()
   logical :: looked = .false.

contains

   ! Is the library there?  Finds it at the first call; threads that do so at
   ! once find the same.
   logical function cachepeek_active()
      if (.not. looked) call find_library()
      cachepeek_active = associated(api_end_named)
   end function

   subroutine find_library()
      type(api_table), pointer :: api
      type(c_ptr) :: found

      found = dlsym(c_null_ptr, c_name('cachepeek_api_1'))
      if (c_associated(found)) then
         call c_f_pointer(found, api)
         if (api%size >= c_sizeof(api)) call take(api)
      end if
      looked = .true.
   end subroutine

   subroutine take(api)
      type(api_table), intent(in) :: api

      call c_f_procpointer(api%region_register, api_register)
      call c_f_procpointer(api%begin, api_begin)
      call c_f_procpointer(api%end, api_end)
      call c_f_procpointer(api%read, api_read)
      call c_f_procpointer(api%pause, api_pause)
      call c_f_procpointer(api%resume, api_resume)
      call c_f_procpointer(api%flush, api_flush)
      call c_f_procpointer(api%begin_named, api_begin_named)
      call c_f_procpointer(api%end_named, api_end_named)
   end subroutine

   pure function c_name(name)
      character(*), intent(in) :: name
      character(kind=c_char) :: c_name(len_trim(name) + 1)
      integer :: i

      do i = 1, len_trim(name)
         c_name(i) = name(i:i)
      end do
      c_name(len_trim(name) + 1) = c_null_char
   end function

   function cachepeek_region_register(name) result(region)
      character(*), intent(in) :: name
      type(cachepeek_region) :: region

      if (cachepeek_active()) region%handle = api_register(c_name(name))
   end function

   subroutine begin_region(region)
      type(cachepeek_region), intent(in) :: region

      if (cachepeek_active()) call api_begin(region%handle)
   end subroutine

   subroutine end_region(region)
      type(cachepeek_region), intent(in) :: region

      if (cachepeek_active()) call api_end(region%handle)
   end subroutine

   subroutine begin_name(name)
      character(*), intent(in) :: name

      if (cachepeek_active()) call api_begin_named(c_name(name))
   end subroutine

   subroutine end_name(name)
      character(*), intent(in) :: name

      if (cachepeek_active()) call api_end_named(c_name(name))
   end subroutine

   ! 0, or a negative errno as cachepeek_read of cachepeek.h; -38 without the library.
   function cachepeek_read(quantity, value) result(status)
      character(*), intent(in) :: quantity
      integer(c_int64_t), intent(out) :: value
      integer(c_int) :: status

      value = 0
      status = -38
      if (cachepeek_active()) status = api_read(c_name(quantity), value)
   end function

   subroutine cachepeek_pause()
      if (cachepeek_active()) call api_pause()
   end subroutine

   subroutine cachepeek_resume()
      if (cachepeek_active()) call api_resume()
   end subroutine

   subroutine cachepeek_flush()
      if (cachepeek_active()) call api_flush()
   end subroutine
end module
